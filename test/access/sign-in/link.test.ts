import { describe, expect, test } from "vitest";
import * as log from "../../../shared/access/activity/log.ts";
import { readSession } from "../../../shared/access/keys/secret.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import * as links from "../../../shared/access/sign-in/link.ts";
import { withTimeOfPeople } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import { recordCapacity, useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { createOrganization, createUser } from "../organizations/accounts.ts";

useEngine();

const createBearer = async () => {
  const email = "ada@acme.example";
  const org = await createOrganization();
  const user = await createUser(org, email);
  return { org, user, bearer: { email, organizationId: org, userId: user.id } };
};

/** What the activity log says, newest first. */
const logged = async (org: number) =>
  (await log.list(org, { limit: 100, offset: 0 }, new Date())).activity.map(({ action, summary, actor }) => ({
    action,
    summary,
    actor,
  }));

const signedIn = (summary: string) => ({
  action: "member.signed_in",
  summary,
  actor: { type: "user", label: "ada@acme.example" },
});

const isInvalid = (error: unknown): boolean => error instanceof Refusal && error.refusal === "invalidLink";

describe("a link", () => {
  test("is redeemed once, however many do it at the same time", async () => {
    const { org, bearer } = await createBearer();
    const { token } = await links.create(bearer, 60);
    // As its function does: a connection that a busy machine does not open in time is tried again.
    const results = await withTimeOfPeople(60, () =>
      Promise.allSettled(Array.from({ length: 30 }, () => links.redeem(token, undefined))),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const failed = results.filter((result) => result.status === "rejected");
    expect(failed.filter(({ reason }) => !isInvalid(reason))).toEqual([]);
    expect(await sessions.list(org, new Date())).toHaveLength(1);
    expect(await logged(org)).toEqual([signedIn("Signed in by a mailed link from an unknown network")]);
    await expect(links.redeem(token)).rejects.toSatisfy(isInvalid);
    expect(await logged(org)).toHaveLength(1);
  });

  test.each([
    [{}, "a mailed link"],
    [{ isInvitation: true }, "an invitation"],
    [{ by: "operator" }, "a link that an operator made"],
    [{ by: "provider", identityId: "account" }, "single sign-on"],
  ] as const)("of the kind %j is logged as that, with the network", async (kind, words) => {
    const { org, bearer } = await createBearer();
    const { token } = await links.create({ ...bearer, ...kind }, 60);
    await links.redeem(token, undefined, { network: "203.0.113.0/24" });
    expect(await logged(org)).toEqual([signedIn(`Signed in by ${words} from 203.0.113.0/24`)]);
  });

  test("lets thirty members in who sign in at the same time, each with an entry", async () => {
    const org = await createOrganization();
    const emails = Array.from({ length: 30 }, (_, index) => `user-${index}@acme.example`);
    const tokens = await Promise.all(
      emails.map(async (email) => {
        const { id } = await createUser(org, email);
        return (await links.create({ email, organizationId: org, userId: id }, 60)).token;
      }),
    );
    await withTimeOfPeople(60, () => Promise.all(tokens.map((token) => links.redeem(token))));
    const labels = (await logged(org)).map(({ actor }) => actor.label);
    expect(labels.sort()).toEqual(emails.sort());
  });

  test("is found in two trips and redeemed in two, for eleven write units", async () => {
    const { bearer } = await createBearer();
    const redeem = async () => {
      const { token } = await links.create(bearer, 60);
      const capacity = recordCapacity();
      await links.redeem(token);
      return capacity.take();
    };
    await redeem();
    const { calls, writeUnits } = await redeem();
    // One trip reads the link, one the user and the organization.
    expect({ calls, writeUnits }).toEqual({ calls: 2 + 2, writeUnits: 1 + 2 * 5 });
  });

  test("ends the session that it replaces in the same transaction", async () => {
    const { org, user, bearer } = await createBearer();
    const { session, value, writes } = sessions.prepare(org, user);
    await table.transact(writes);
    const replaced = readSession(value);
    const { token } = await links.create(bearer, 60);
    const transactions: Command[] = [];
    const restore = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
      if (/^TransactWrite/.test(commandName ?? "") && transactions.push(sent) === 1) throw new Error("died");
      return next(sent);
    });
    await expect(links.redeem(token, undefined, { replaced })).rejects.toThrow("died");
    expect((await sessions.list(org, new Date())).map(({ id }) => id)).toEqual([session.id]);
    await links.redeem(token, undefined, { replaced });
    restore();
    expect(transactions).toHaveLength(2);
    const left = await sessions.list(org, new Date());
    expect(left).toHaveLength(1);
    expect(left[0]?.id).not.toBe(session.id);
  });

  test("is not redeemed for a user who is removed between reading and writing", async () => {
    const { org, bearer } = await createBearer();
    const { token } = await links.create(bearer, 60);
    const removing = onTableRequest("any transaction", "before", async () => {
      await users.remove(org, bearer.userId, { force: true });
    });
    await expect(links.redeem(token, undefined)).rejects.toSatisfy(isInvalid);
    expect(removing.happened).toBe(true);
    expect(await sessions.list(org, new Date())).toEqual([]);
    expect(await logged(org)).toEqual([]);
  });
});

describe("an invitation", () => {
  const invite = async (bearer: links.Bearer) =>
    (await links.create({ ...bearer, isInvitation: true }, links.lifetimes.invitation)).token;

  test("ends when a newer one or another link signs the user in", async () => {
    const { bearer } = await createBearer();
    const [first, second] = [await invite(bearer), await invite(bearer)];
    await links.redeem(second);
    await expect(links.redeem(first)).rejects.toSatisfy(isInvalid);
    const other = await createBearer();
    const invitation = await invite(other.bearer);
    const { token } = await links.create(other.bearer, links.lifetimes.link);
    await links.redeem(token);
    await expect(links.redeem(invitation)).rejects.toSatisfy(isInvalid);
  });

  test("is redeemed once of several at the same time", async () => {
    const { org, bearer } = await createBearer();
    const tokens = [await invite(bearer), await invite(bearer), await invite(bearer)];
    const results = await Promise.allSettled(tokens.map((token) => links.redeem(token)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const failed = results.filter((result) => result.status === "rejected");
    expect(failed.filter(({ reason }) => !isInvalid(reason))).toEqual([]);
    expect(await sessions.list(org, new Date())).toHaveLength(1);
  });
});
