import { afterEach, describe, expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import * as apiKeys from "../../../shared/access/keys/api-key.ts";
import * as users from "../../../shared/access/members/user.ts";
import type { Key } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import { dieAfter, onTableRequest } from "../../aws/table/request-points.ts";
import { createOrganization, createUser } from "./accounts.ts";

const unlimited = { access: "full", expiresAt: null } as const;

useEngine();

let restore = () => {};
afterEach(() => restore());

const createKey = async () => {
  const org = await createOrganization();
  const { id } = await apiKeys.create(org, { ...unlimited, label: "Leaked" }, administrator);
  const revokedAt = async () => (await apiKeys.list(org))[0]?.revokedAt;
  const entries = async () => {
    const { activity } = await log.list(org, { limit: 10, offset: 0 }, new Date());
    return activity.filter(({ action }) => action === "api_key.revoked");
  };
  return { org, id, revokedAt, entries };
};

/** Takes the key of the log entry's row before so many transactions, whose condition for that row then fails. */
const takeEntries = (times: number) => {
  let taken = 0;
  restore = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
    const { TransactItems: items } = sent.input as { TransactItems?: { Put?: { Item: Key } }[] };
    const entry = items?.find(({ Put }) => Put?.Item.pk.includes("ACTIVITY"))?.Put?.Item;
    if (!commandName?.startsWith("TransactWrite") || entry === undefined || taken >= times) return next(sent);
    taken++;
    const { pk, sk } = entry;
    await table.put({ pk, sk });
    try {
      return await next(sent);
    } finally {
      await table.remove({ pk, sk });
    }
  });
  return () => taken;
};

test("a key is revoked although the writes of the log entry were refused once", async () => {
  const { org, id, revokedAt, entries } = await createKey();
  const taken = takeEntries(1);
  expect(await apiKeys.revoke(org, id, administrator)).toBe("revoked");
  expect(taken()).toBe(1);
  expect(await revokedAt()).toEqual(expect.any(String));
  expect(await entries()).toHaveLength(1);
});

test("a key that could not be revoked is not called revoked", async () => {
  const { org, id, revokedAt } = await createKey();
  const taken = takeEntries(Number.POSITIVE_INFINITY);
  const revoked = withTimeOf(900, () => apiKeys.revoke(org, id, administrator));
  await expect(revoked).rejects.toMatchObject({ refusal: "busy" });
  expect(taken()).toBeGreaterThan(0);
  expect(await revokedAt()).toBeNull();
});

test("two who revoke a key at the same time both succeed, with one log entry", async () => {
  const { org, id, revokedAt, entries } = await createKey();
  const revoke = () => apiKeys.revoke(org, id, administrator);
  expect(await Promise.all([revoke(), revoke(), revoke()])).toEqual(["revoked", "revoked", "revoked"]);
  expect(await revokedAt()).toEqual(expect.any(String));
  expect(await entries()).toHaveLength(1);
});

describe("a user's keys", () => {
  const create = async () => {
    const org = await createOrganization();
    await createUser(org, "boss@acme.example");
    const { id, email: label } = await createUser(org, "ada@acme.example");
    const ada = { type: "user", id, label } as const;
    for (const name of ["One", "Two"]) await apiKeys.create(org, { label: name, ...unlimited }, ada);
    await apiKeys.create(org, { ...unlimited, label: "Operator's" }, administrator);
    const valid = async () =>
      (await apiKeys.list(org)).filter(({ revokedAt }) => revokedAt === null).map(({ label }) => label);
    return { org, ada, valid };
  };

  test("are all revoked, no others; a repeated call revokes what was left", async () => {
    const { org, ada, valid } = await create();
    dieAfter(1);
    await expect(apiKeys.revokeMadeBy(org, ada.id, administrator)).rejects.toThrow("died");
    expect(await valid()).toHaveLength(2);
    await apiKeys.revokeMadeBy(org, ada.id, administrator);
    expect(await valid()).toEqual(["Operator's"]);
    await apiKeys.revokeMadeBy(org, ada.id, administrator);
    const { activity } = await log.list(org, { limit: 20, offset: 0 }, new Date());
    expect(activity.filter(({ action }) => action === "api_key.revoked")).toHaveLength(2);
  });

  test.each(["removed", "demoted"])(
    "end once the user is %s, also if a request is under way",
    async (how) => {
      const { org, ada, valid } = await create();
      const underWay = onTableRequest("any transaction", "before", async () => {
        if (how === "removed") await users.remove(org, ada.id);
        else await users.change(org, ada.id, { role: "member" }, administrator);
        await apiKeys.revokeMadeBy(org, ada.id, administrator);
      });
      await expect(apiKeys.create(org, { ...unlimited, label: "Late" }, ada)).rejects.toMatchObject({
        refusal: "adminOnly",
      });
      expect(underWay.happened).toBe(true);
      expect(await valid()).toEqual(["Operator's"]);
    },
  );
});
