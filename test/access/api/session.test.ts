import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { handler as authorize } from "../../../functions/authorize/handler.ts";
import { authenticate, authenticateDashboard } from "../../../shared/access/api/authenticate.ts";
import { fromContext } from "../../../shared/access/api/principal.ts";
import { hashOf, mintSession } from "../../../shared/access/keys/secret.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import { keys, timeToLive } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { passWhatIsWaitedFor } from "../../hibp/virtual-time.ts";
import { createOrganization, createUser } from "../organizations/accounts.ts";

useEngine();

const hour = 3_600_000;
const day = 24 * hour;
let addresses = 0;

const create = async () => {
  const org = await createOrganization();
  const user = await createUser(org, "ada@acme.example");
  const { value, id } = await sessions.create(org, user);
  const createdAt = Date.now();
  const row = () => sessions.get(org, user.id, hashOf(value));
  /** A request so many milliseconds after the session was created. */
  const use = (later: number, by = authenticate) => by(eventWith(value), new Date(createdAt + later));
  return { org, user, value, id, createdAt, row, use };
};

const eventWith = (value: string) =>
  ({
    httpMethod: "GET",
    multiValueHeaders: { cookie: [`__Host-session=${value}`] },
    requestContext: { identity: { sourceIp: `203.0.113.${++addresses}` } },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

describe("a session ends", () => {
  test("after 7 days without a request, and not before", async () => {
    const { org, use } = await create();
    expect(await use(7 * day - hour)).toMatchObject({ organizationId: org });
    expect(await use(14 * day - 2 * hour)).toMatchObject({ organizationId: org });
    expect(await use(21 * day)).toMatchObject({ refusal: "unauthenticated" });
  });

  test("after 30 days, however often it is used", async () => {
    const { org, use } = await create();
    for (const days of [6, 12, 18, 24, 29.9]) {
      expect(await use(days * day)).toMatchObject({ organizationId: org });
    }
    expect(await use(30 * day + 1000)).toMatchObject({ refusal: "unauthenticated" });
  });

  test.each([1, 12, 720])(
    "after %d hours where operators say so, however often it is used",
    async (hours) => {
      const { org, use } = await create();
      expect(await use(0.4 * hour)).toMatchObject({ organizationId: org });
      // Sessions from before it was set end as well.
      await organizations.set(org, { sessionHours: hours });
      for (const part of [0.2, 0.4, 0.6, 0.8, 0.99])
        expect(await use(part * hours * hour)).toMatchObject({ organizationId: org });
      for (const by of [authenticate, authenticateDashboard as typeof authenticate])
        expect(await use(hours * hour + 1000, by)).toMatchObject({ refusal: "unauthenticated" });
    },
  );

  test("in time, also if its row says that it goes on", async () => {
    const { org, user, value, createdAt, row, use } = await create();
    await organizations.set(org, { sessionHours: 12 });
    const listed = async (now: number) => await sessions.list(org, new Date(now), user.id);
    const until = new Date(Date.parse((await row())?.createdAt ?? "") + 12 * hour).toISOString();
    expect(await listed(createdAt)).toMatchObject([{ expiresAt: until }]);
    const late = { [timeToLive]: Math.floor((createdAt + 300 * day) / 1000) };
    await table.update(keys.session(org, user.id, hashOf(value)), { set: late });
    expect(await use(12 * hour + 1000)).toMatchObject({ refusal: "unauthenticated" });
    expect(await listed(createdAt + 12 * hour + 1000)).toEqual([]);
  });

  test("when its user is removed, even if that call then dies", async () => {
    const { org, user, use, row } = await create();
    const died = new Error("died");
    const restore = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
      if (commandName === "QueryCommand" && JSON.stringify(sent.input).includes("#SESSION")) throw died;
      return next(sent);
    });
    await expect(users.remove(org, user.id, { force: true })).rejects.toBe(died);
    restore();
    expect(await row()).toBeDefined();
    expect(await use(1000)).toMatchObject({ refusal: "unauthenticated" });
    expect(await use(1000, authenticateDashboard as typeof authenticate)).toMatchObject({
      refusal: "unauthenticated",
    });
    // Repeating the call deletes the remaining rows.
    expect(await users.remove(org, user.id)).toBe("already");
    expect(await row()).toBeUndefined();
  });

  test("for good: a request that began before does not bring it back", async () => {
    const { org, user, value, use, row } = await create();
    const ending = onTableRequest("the use of a session", "before", () =>
      sessions.end(org, user.id, hashOf(value)),
    );
    await use(2 * hour);
    expect(ending.happened).toBe(true);
    expect(await row()).toBeUndefined();
  });
});

describe("the use of a session", () => {
  test("is noted once an hour", async () => {
    const { createdAt, use, row } = await create();
    const lastUsed = async () => Date.parse((await row())?.lastUsedAt ?? "") - createdAt;
    const before = await lastUsed();
    await use(0.9 * hour);
    expect(await lastUsed()).toBe(before);
    await use(1.5 * hour);
    expect(await lastUsed()).toBe(1.5 * hour);
    await use(2 * hour);
    expect(await lastUsed()).toBe(1.5 * hour);
  });

  test("that cannot be noted is no reason to refuse it", async () => {
    const { org, use } = await create();
    const failing = onTableRequest("the use of a session", "before", () =>
      Promise.reject(new Error("no table")),
    );
    expect(await use(2 * hour)).toMatchObject({ organizationId: org });
    expect(failing.happened).toBe(true);
  });
});

test("a cookie that names another user than its session's is none", async () => {
  const { org, user, value } = await create();
  const other = await createUser(org, "alan@acme.example");
  const forged = mintSession(org, other.id).slice(0, 16) + value.slice(16);
  expect(await authenticate(eventWith(forged))).toMatchObject({ refusal: "unauthenticated" });
  expect(await table.get(keys.session(org, user.id, hashOf(value)))).toBeDefined();
});

test("the dashboard gets the role and the session as of each request", async () => {
  const { org, user, id, use } = await create();
  await createUser(org, "boss@acme.example");
  const dashboard = () => use(1000, authenticateDashboard as typeof authenticate);
  expect(await dashboard()).toMatchObject({ session: { id, role: "admin" } });
  await users.change(
    org,
    user.id,
    { role: "member" },
    { type: "system", id: null, label: "Test" },
    {
      keptSession: id,
    },
  );
  expect(await dashboard()).toMatchObject({ session: { id, role: "member" } });
});

test("the endpoint answers for a table that stays busy, with 503 and a time", async () => {
  const { value } = await create();
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    if (!commandName.startsWith("Update")) return next(sent);
    throw Object.assign(new Error("throttled"), { name: "ThrottlingException" });
  });
  const event = { ...eventWith(value), methodArn: "arn:aws:execute-api:api/stage", resource: "/v1/breaches" };
  const undo = passWhatIsWaitedFor();
  const { context, policyDocument } = await authorize(event).finally(undo);
  stop();
  expect(policyDocument.Statement).toMatchObject([{ Effect: "Allow" }]);
  expect(() => fromContext(context ?? {})).toThrow(
    expect.objectContaining({ refusal: "busy", headers: { "Retry-After": "2" } }),
  );
});
