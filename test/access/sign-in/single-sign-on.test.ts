import { describe, expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import * as links from "../../../shared/access/sign-in/link.ts";
import { identityIdOf, signIn } from "../../../shared/access/sign-in/single-sign-on.ts";
import { type Key, keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { createOrganization, createUser } from "../organizations/accounts.ts";

useEngine();

const issuer = "https://id.acme.example";
let domains = 0;

/** An organization that people of its domain join, and somebody with an address there. */
const create = async () => {
  const org = await createOrganization();
  const domain = `acme-${++domains}.example`;
  const email = `ada@${domain}`;
  /** Other tests have other accounts. */
  const identityOf = (subject: string, by = issuer) => identityIdOf(by, `${subject} of ${domain}`);
  /** The user as whom an account of this subject and address signs in, or why it does not. */
  const enter = async (subject: string, address = email, homes: number[] = [], by = issuer) => {
    const identity = { identityId: identityOf(subject, by), email: address, name: null };
    try {
      const { user } = await signIn(identity, () => homes, {});
      return user.id;
    } catch (error) {
      if (error instanceof Refusal) return error.refusal;
      throw error;
    }
  };
  const join = (subject: string, address?: string) => enter(subject, address, [org]);
  const actions = async () =>
    (await log.list(org, { limit: 20, offset: 0 }, new Date())).activity.map(({ summary }) => summary);
  return { org, domain, email, identityOf, enter, join, actions };
};

const rowsNaming = async (id: number): Promise<string[]> => {
  const found: string[] = [];
  for await (const page of table.scanPages())
    found.push(
      ...page.filter(({ userId, pk }) => userId === id && /^SIGN-IN-(A|I)/.test(pk)).map((row) => row.pk),
    );
  return found.sort();
};

describe("a person's account", () => {
  test("is the only one accepted until an admin forgets it", async () => {
    const { org, email, enter, actions } = await create();
    const { id } = await createUser(org, email);
    expect(await enter("1", `nobody.${email}`)).toBe("userUnknown");
    expect(await enter("1")).toBe(id);
    expect(await enter("2")).toBe("identityChanged");
    expect(await enter("1", email, [], "https://id.other.example")).toBe("identityChanged");
    expect(await enter("1")).toBe(id);
    expect(users.shown((await users.get(org, id)) as users.User)).toMatchObject({ hasIdentity: true });
    for (const _ of ["once", "again"]) await users.forgetIdentity(org, id, administrator);
    expect(users.shown((await users.get(org, id)) as users.User)).toMatchObject({ hasIdentity: false });
    expect(await enter("2")).toBe(id);
    expect(await enter("1")).toBe("identityChanged");
    expect((await actions()).filter((each) => each.startsWith("Forgot"))).toHaveLength(1);
  });

  test("is the first that signs in, even of several at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const { org, email, enter } = await create();
      const { id } = await createUser(org, email);
      const subjects = ["1", "2", "3", "1", "2", "3"];
      const results = await Promise.all(subjects.map((subject) => enter(subject)));
      const winners = new Set(subjects.filter((_, index) => results[index] === id));
      expect([...winners]).toHaveLength(1);
      const [winner] = [...winners];
      // Each tab of the one who was first signs in.
      expect(results).toEqual(subjects.map((subject) => (subject === winner ? id : "identityChanged")));
      expect(await sessions.list(org, new Date())).toHaveLength(2);
    }
  });

  test("of two who join first at the same instant one remains", async () => {
    const { org, join } = await create();
    const results = await Promise.all(["1", "2", "1", "2"].map((subject) => join(subject)));
    const [user, ...others] = await users.list(org);
    expect(others).toEqual([]);
    expect(results.filter((result) => result === user?.id)).toHaveLength(2);
    expect(results.filter((result) => result === "identityChanged")).toHaveLength(2);
  });

  test("is noted once its token has chosen an organization", async () => {
    const [one, two] = [await create(), await create()];
    for (const { org } of [one, two]) await createUser(org, one.email);
    const asked = { identityId: one.identityOf("1"), email: one.email, name: null };
    const refused = await signIn(asked, () => [], {}).catch((error: Refusal) => error);
    const { token } = (refused as Refusal).details as { token: string };
    await users.create(two.org, { email: "boss@acme.example", name: null });
    const { user } = await links.redeem(token, two.org);
    // In the other organization nobody has signed in yet: an account there is another matter.
    expect(await one.enter("2")).toEqual(expect.any(Number));
    expect(await one.enter("1")).toBe(user.id);
    expect(await one.enter("3")).toBe("identityChanged");
  });

  test("a mailed link signs in beside the account, and notes none", async () => {
    const { org, email, enter } = await create();
    const { id } = await createUser(org, email);
    const { token } = await links.create({ email }, 60);
    await links.redeem(token);
    expect(await users.get(org, id)).not.toHaveProperty("identityId");
    expect(await enter("1")).toBe(id);
    const { token: next } = await links.create({ email }, 60);
    expect((await links.redeem(next)).user.id).toBe(id);
  });
});

describe("a changed address", () => {
  test("is the same user, who has the new address from then on", async () => {
    const { org, domain, email, identityOf, enter, join, actions } = await create();
    const { id } = await createUser(org, email);
    await enter("1");
    const married = `ada.king@${domain}`;
    expect(await join("1", married)).toBe(id);
    expect(await users.get(org, id)).toMatchObject({ email: married });
    expect(await rowsNaming(id)).toEqual([
      `SIGN-IN-ADDRESS#${married}`,
      `SIGN-IN-IDENTITY#${identityOf("1")}`,
    ]);
    expect(await actions()).toContain(
      `${email} has the address ${married} now, as the identity provider says`,
    );
    // Somebody else gets the former address.
    expect(await join("2")).not.toBe(id);
    expect(await enter("1", married)).toBe(id);
  });

  test("keeps the former one while another user has the new one", async () => {
    const { org, domain, email, enter } = await create();
    const [{ id }, invited] = [await createUser(org, email), await createUser(org, `new@${domain}`)];
    await enter("1");
    expect(await enter("1", invited.email)).toBe(id);
    expect(await users.get(org, id)).toMatchObject({ email });
    await users.remove(org, invited.id);
    expect(await enter("1", invited.email)).toBe(id);
    expect(await users.get(org, id)).toMatchObject({ email: invited.email });
  });

  test("keeps the former one if the new one is of another domain", async () => {
    const { org, email, enter } = await create();
    const { id } = await createUser(org, email);
    await enter("1");
    expect(await enter("1", "ada@home.example")).toBe(id);
    expect(await users.get(org, id)).toMatchObject({ email });
    expect(await links.membershipsOf({ email: "ada@home.example" })).toEqual([]);
  });

  test("in several tabs at the same time it is changed once", async () => {
    const { org, domain, email, enter, actions } = await create();
    const { id } = await createUser(org, email);
    await enter("1");
    const results = await Promise.all([1, 2, 3].map(() => enter("1", `ada.king@${domain}`)));
    expect(results).toEqual([id, id, id]);
    expect((await actions()).filter((each) => each.includes("has the address"))).toHaveLength(1);
  });
});

describe("a removed person stays out", () => {
  const removed = async () => {
    const made = await create();
    const id = await made.join("1");
    await users.remove(made.org, id as number, { force: true });
    return made;
  };

  test.each([
    ["by the same account", "1", "ada@"],
    ["by the same account with another address", "1", "grace@"],
    ["by an account that was made anew", "2", "ada@"],
    ["by a sub-address", "2", "ada+x@"],
    ["by a sub-address without a name", "2", "ada+@"],
    ["by a sub-address of a sub-address", "2", "ada+x+y@"],
  ])("%s", async (_, subject, alias) => {
    const { org, domain, join } = await removed();
    expect(await join(subject, alias + domain)).toBe("userUnknown");
    expect(await users.list(org)).toEqual([]);
  });

  test("by the address of a sub-address, or by a former one", async () => {
    const { org, domain, join } = await create();
    const id = (await join("1", `ada+x@${domain}`)) as number;
    expect(await join("1", `king@${domain}`)).toBe(id);
    await users.remove(org, id, { force: true });
    for (const alias of ["ada", "ada+y", "king"])
      expect(await join("2", `${alias}@${domain}`)).toBe("userUnknown");
    expect(await join("2", `adam@${domain}`)).toEqual(expect.any(Number));
  });

  test("until invited, and may then come with any account", async () => {
    const { org, email, enter, join } = await removed();
    const { id } = await createUser(org, email);
    expect(await enter("2")).toBe(id);
    expect(await join("1")).toBe("identityChanged");
    await users.remove(org, id, { force: true });
    expect(await join("2")).toBe("userUnknown");
  });

  test("but may enter another organization", async () => {
    const { email, enter } = await removed();
    const other = await createOrganization();
    expect(await enter("1", email, [other])).toEqual(expect.any(Number));
  });

  test("and is in no row that signing in reads", async () => {
    const { org, email } = await removed();
    const [row] = await table.query<users.User & Key>({ pk: keys.user(org, 0).pk });
    expect(await rowsNaming(row?.id ?? 0)).toEqual([]);
    expect(await links.membershipsOf({ email, identityId: row?.identityId ?? "" })).toEqual([]);
  });
});

test("nobody joins an organization that is being deleted", async () => {
  const { org, join } = await create();
  await organizations.markDeleting(org);
  expect(await join("1")).toBe("userUnknown");
});
