import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { admitAnyone, authenticate, authenticateDashboard } from "../../shared/access/api/authenticate.ts";
import { countOrganization } from "../../shared/access/api/limits.ts";
import { hashOf } from "../../shared/access/keys/secret.ts";
import { keys, timeToLive } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { browserWith, createSession, signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createClient, type Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { inOneWindow, presetCount, subjects } from "./limit-window.ts";
import { countStatuses, expectRefusal, unknownId } from "./reply.ts";

const times = <T>(count: number, act: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => act(index));

/**
 * Asserts the error of the refused requests, and Retry-After: the whole seconds until the window ends, at
 * least 1.
 */
const expectLimited = (replies: readonly Reply[], error: RegExp, windowSeconds: 60 | 3600): void => {
  const left = windowSeconds - ((Date.now() / 1000) % windowSeconds);
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const reply of refused) {
    expectRefusal(reply, 429, error);
    expect(reply.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    // The replies may have come up to 31 s ago: a burst of requests takes a while.
    const seconds = Number(reply.headers["retry-after"]);
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(left));
    expect(seconds).toBeLessThanOrEqual(Math.min(windowSeconds, left + 31));
  }
};

test("of a source address 100 requests a minute pass, whatever their headers say", () =>
  inOneWindow(60, async () => {
    const { key } = await createOrganization();
    const api = createClient({});
    await presetCount(subjects.address(api.address), 88, 60);
    const replies = await Promise.all(
      times(24, (index) => {
        const headers = { "x-forwarded-for": `203.0.113.${index}`, authorization: `Bearer ${key}` };
        if (index % 3 === 0) return api.request("GET", "/alert-configs", { headers });
        return index % 3 === 1 ? api.get("/alert-configs") : api.post("/nowhere");
      }),
    );
    const { 429: refused, ...passed } = countStatuses(replies);
    expect(refused).toBe(12);
    expect((passed[200] ?? 0) + (passed[401] ?? 0)).toBe(12);
    expectLimited(replies, /from this address/, 60);
    // The limit is checked before authentication, and for each address by itself.
    expect((await api.get("/emails")).status).toBe(429);
    expect((await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status).toBe(200);
  }));

test("of an API key 100 requests a minute pass from all addresses; others still work", () =>
  inOneWindow(60, async () => {
    const { id: org, key } = await createOrganization();
    const other = await admin("key create", { org, label: "Other" });
    await presetCount(subjects.key(hashOf(key)), 92, 60);
    const clients = times(3, () => createClient({ authorization: `Bearer ${key}` }));
    const replies = await Promise.all(clients.flatMap((api) => times(4, () => api.get("/alert-configs"))));
    expect(countStatuses(replies)).toEqual({ 200: 8, 429: 4 });
    expectLimited(replies, /with this API key/, 60);
    const fresh = createClient({});
    const by = (value: unknown) =>
      fresh.request("GET", "/emails", { headers: { authorization: `Bearer ${value}` } });
    expectLimited([await by(key)], /with this API key/, 60);
    expect((await by(other.key)).status).toBe(200);
  }));

describe("a user", () => {
  test("has 100 requests a minute to an endpoint, with all sessions and addresses", () =>
    inOneWindow(60, async () => {
      const { id: org } = await createOrganization();
      const user = await signedIn(org);
      const other = await signedIn(org, { role: "member" });
      await presetCount(subjects.user(org, user.userId), 92, 60, "GET /v1/alert-configs");
      const sessions = [user, await createSession(org, { id: user.userId, email: user.email })];
      const replies = await Promise.all(
        sessions.flatMap(({ cookie }) => times(6, () => createClient({ cookie }).get("/alert-configs"))),
      );
      expect(countStatuses(replies)).toEqual({ 200: 8, 429: 4 });
      expectLimited(replies, /by this user/, 60);
      expect((await user.v1.get("/emails")).status).toBe(200);
      expect((await other.v1.get("/alert-configs")).status).toBe(200);
    }));

  test("has 300 requests a minute in all, in both parts of the API", () =>
    inOneWindow(60, async () => {
      const { id: org } = await createOrganization();
      const user = await signedIn(org);
      const another = await createSession(org, { id: user.userId, email: user.email });
      await presetCount(subjects.user(org, user.userId), 296, 60);
      const replies = await Promise.all([
        ...times(3, () => user.v1.get("/emails")),
        ...times(3, () => another.dashboard.get("/teams")),
      ]);
      expect(countStatuses(replies)).toEqual({ 200: 4, 429: 2 });
      expectLimited([await another.v1.get("/scans")], /by this user/, 60);
      expectLimited([await user.dashboard.get("/nothing")], /by this user/, 60);
    }));

  test("loses nothing by sessions that somebody makes up, or that have ended", () =>
    inOneWindow(60, async () => {
      const { id: org } = await createOrganization();
      const user = await signedIn(org);
      const ended = await createSession(org, { id: user.userId, email: user.email });
      await ended.dashboard.delete("/session");
      const [, secret = ""] = user.cookie.split("=");
      const forged = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
      await presetCount(subjects.user(org, user.userId), 290, 60);
      const attempts = [ended.cookie, `session=${forged}`].flatMap((cookie) => {
        const { dashboard, v1 } = browserWith(cookie);
        return times(10, (index) => (index % 2 === 0 ? dashboard.get("/session") : v1.get("/emails")));
      });
      expect(countStatuses(await Promise.all(attempts))).toEqual({ 401: 20 });
      expect((await user.dashboard.get("/session")).status).toBe(200);
    }));
});

// access.test.ts has the other limits of an organization, order.test.ts that wrong input does not count.
describe("an organization", () => {
  test("has 60 POST and DELETE /emails an hour; 404 counts, 400 does not", () =>
    inOneWindow(3600, async () => {
      const { id: org, api, domainId } = await createOrganization();
      const second = await admin("key create", { org, label: "Second" });
      const other = createClient({ authorization: `Bearer ${second.key}` });
      const invalid = await Promise.all([
        ...times(3, () => api.post("/emails", { email: "not an address", domainId })),
        ...times(3, () => api.post("/emails", { email: "ada@other.example", domainId })),
        ...times(3, () => api.delete("/emails?id=x")),
        ...times(3, () => api.request("POST", "/emails", { raw: "{" })),
      ]);
      expect(countStatuses(invalid)).toEqual({ 400: 12 });
      await presetCount(subjects.organization(org, "emailAddsAndRemovals"), 50, 3600);
      const replies = await Promise.all([
        ...times(8, () => api.post("/emails", { email: "ada@demo.example", domainId: unknownId })),
        ...times(8, () => other.delete(`/emails?id=${unknownId}`)),
      ]);
      expect(countStatuses(replies)).toEqual({ 404: 10, 429: 6 });
      expectLimited(replies, /hourly limit/, 3600);
      // Beyond the limit invalid input is still 400, and other requests are unaffected.
      expect((await other.delete("/emails?id=x")).status).toBe(400);
      expect((await other.patch(`/emails/${unknownId}`, { isActive: true })).status).toBe(404);
      expect((await other.get("/emails")).status).toBe(200);
    }));

  test("has 60 channel writes an hour with a hostname, across its keys", () =>
    inOneWindow(3600, async () => {
      const { id: org, api } = await createOrganization();
      const literal = "https://192.0.32.8/";
      const recipients = ["a@acme.example"];
      const [webhook, slack, email] = await Promise.all([
        createChannel(api, { channel: "webhook", config: { url: literal } }),
        createChannel(api, { channel: "slack", config: { webhookUrl: literal } }),
        createChannel(api, { channel: "email", config: { recipients } }),
      ]);
      const name = "https://does-not-resolve.example.com/";
      type Requests = [method: "POST" | "PATCH", id: number | undefined, body: object][];
      const to = (url: string) => ({ config: { url } });
      const counted: Requests = [
        ["POST", undefined, { channel: "webhook", ...to(name) }],
        ["POST", undefined, { channel: "slack", config: { webhookUrl: name } }],
        ["PATCH", webhook, to(name)],
        ["PATCH", slack, { config: { webhookUrl: name } }],
        ["PATCH", email, { channel: "slack", config: { webhookUrl: name } }],
      ];
      const notCounted: Requests = [
        ["PATCH", webhook, to("https://[2606:4700::6810:85e5]/")],
        ["PATCH", webhook, { config: { secret: "s" } }],
        ["PATCH", webhook, to("https://192.0.32.9")],
        ["PATCH", slack, { config: { webhookUrl: "https://192.0.32.9/" } }],
        ["PATCH", slack, { isEnabled: false, notifyOnNewBreach: false }],
        ["PATCH", email, { config: { recipients: ["b@acme.example"] } }],
        ["POST", undefined, { channel: "email", config: { recipients } }],
      ];
      const refusedByForm: Requests = [
        ["PATCH", webhook, to("https://localhost/")],
        ["PATCH", slack, { config: { webhookUrl: "https://host.internal/" } }],
        ["POST", undefined, { channel: "webhook", ...to("http://hooks.example.com/") }],
      ];
      // Leaves as many of the 60 as there are requests in `counted`.
      await presetCount(subjects.organization(org, "alertConfigWrites"), 60 - counted.length, 3600);
      const send = (requests: Requests) =>
        Promise.all(
          requests.map(([method, id, body]) => {
            const path = id === undefined ? "/alert-configs" : `/alert-configs/${id}`;
            return api.request(method, path, { body });
          }),
        );
      expect(countStatuses(await send(notCounted))).toEqual({ 200: 6, 201: 1 });
      expect(countStatuses(await send(refusedByForm))).toEqual({ 400: 3 });
      // A name that does not resolve is 400 and counts.
      expect(countStatuses(await send(counted))).toEqual({ 400: 5 });
      const limited = await send(counted);
      expectLimited(limited, /hourly limit/, 3600);
      expect(countStatuses(limited)).toEqual({ 429: 5 });
      expect(countStatuses(await send(notCounted))).toEqual({ 200: 6, 201: 1 });
      expect(countStatuses(await send(refusedByForm))).toEqual({ 400: 3 });
      expect((await api.delete(`/alert-configs/${webhook}`)).status).toBe(200);
    }));
});

describe("RateLimit headers", () => {
  /** What a reply says of each limit: `{ key: { q: 100, w: 60, r: 99, t: 17 } }`. */
  const limitsIn = ({ headers }: Reply): Record<string, Record<string, number>> => {
    const limits: Record<string, Record<string, number>> = {};
    for (const item of `${headers["ratelimit-policy"]}, ${headers.ratelimit}`.split(", ")) {
      const [, name = "", parameters = ""] = /^"(\w+)"((?:;[a-z]=\d+)+)$/.exec(item) ?? [];
      const values = [...parameters.matchAll(/;([a-z])=(\d+)/g)].map(([, key, value]) => [
        key,
        Number(value),
      ]);
      limits[name] = { ...limits[name], ...Object.fromEntries(values) };
    }
    return limits;
  };

  test("tell what is left for address and key, also at 400 and 429", () =>
    inOneWindow(60, async () => {
      const { id: org, api } = await createOrganization();
      await presetCount(subjects.organization(org, "scans"), 10, 3600);
      const replies = [await api.get("/emails"), await api.post("/emails", {}), await api.post("/scans")];
      expect(replies.map(({ status }) => status)).toEqual([200, 400, 429]);
      for (const [index, reply] of replies.entries()) {
        const left = { q: 100, w: 60, r: 99 - index, t: expect.any(Number) };
        expect(limitsIn(reply)).toEqual({ address: left, key: left });
        expect(limitsIn(reply).key?.t).toBeGreaterThan(0);
        expect(limitsIn(reply).key?.t).toBeLessThanOrEqual(60);
      }
    }));

  test("tell what is left for a user, in all and at this endpoint", () =>
    inOneWindow(60, async () => {
      const { dashboard, v1 } = await signedIn((await createOrganization()).id);
      const left = (q: number, used: number) => ({ q, w: 60, r: q - used, t: expect.any(Number) });
      expect(limitsIn(await dashboard.get("/session"))).toEqual({
        user: left(300, 1),
        endpoint: left(50, 1),
      });
      expect(limitsIn(await v1.get("/emails"))).toEqual({
        address: left(100, 1),
        user: left(300, 2),
        endpoint: left(100, 1),
      });
    }));
});

describe("a window", () => {
  test("is the hour in UTC: its limit lasts to the end, then a new one begins", async () => {
    const { id: org } = await createOrganization();
    const at = async (time: string) =>
      (await countOrganization(org, "scans", new Date(`2100-01-01T${time}Z`))).refusedSeconds;
    const within = await Promise.all(times(12, (index) => at(`10:${10 + index}:59.999`)));
    expect(within.filter((seconds) => seconds === 0)).toHaveLength(10);
    expect(await at("10:00:00.000")).toBe(3600);
    expect(await at("10:59:59.999")).toBe(1);
    // The window's counter expires.
    const startedAt = Date.parse("2100-01-01T10:00:00Z") / 1000;
    expect(await table.get(keys.limit(subjects.organization(org, "scans"), String(startedAt)))).toMatchObject(
      {
        requests: 10,
        [timeToLive]: startedAt + 2 * 3600,
      },
    );
    expect(await Promise.all(times(11, () => at("11:00:00.000")))).toEqual(
      expect.arrayContaining([...times(10, () => 0), 3600]),
    );
  });

  test("that refused an address writes nothing more for it, and ends on time", async () => {
    const { id, key } = await createOrganization();
    const sourceIp = `flood-${id}`;
    const requestAt = (time: string) =>
      authenticate(
        {
          httpMethod: "GET",
          multiValueHeaders: { Authorization: [`Bearer ${key}`] },
          requestContext: { identity: { sourceIp } },
        } as unknown as APIGatewayRequestAuthorizerEvent,
        new Date(`2100-01-01T${time}Z`),
      );
    for (const minute of ["10:00", "10:01"]) {
      const window = String(Date.parse(`2100-01-01T${minute}:00Z`) / 1000);
      const row = keys.limit(`ADDRESS#${sourceIp}`, window);
      await table.update(row, { add: { requests: 99 } });
      expect(await requestAt(`${minute}:10.000`)).toMatchObject({ organizationId: id });
      const refusal = (retryAfterSeconds: number) => ({ refusal: "addressLimit", retryAfterSeconds });
      // The request that uses the limit up has been identified. Later ones only claim an organization.
      const caller = { organizationId: id, actorType: "api_key", actorId: expect.any(Number) };
      expect(await requestAt(`${minute}:10.000`)).toEqual({ ...refusal(50), caller });
      await table.update(row, { set: { requests: 0 } });
      const refused = await Promise.all(times(20, () => requestAt(`${minute}:20.500`)));
      expect(refused).toEqual(times(20, () => ({ ...refusal(40), claimed: id })));
      expect(await requestAt(`${minute}:59.999`)).toEqual({ ...refusal(1), claimed: id });
      expect(await table.get(row)).toMatchObject({ requests: 0 });
    }
  });

  test("counts an IPv6 network as one address, in both parts of the API", async () => {
    const { id } = await createOrganization();
    const network = `2001:db8:${(id % 65_536).toString(16)}:${Math.floor(Math.random() * 65_536).toString(16)}`;
    const now = new Date("2100-01-01T12:00:30Z");
    const eventFrom = (sourceIp: string) =>
      ({
        httpMethod: "GET",
        resource: "/dashboard/sign-in",
        multiValueHeaders: {},
        requestContext: { identity: { sourceIp } },
      }) as unknown as APIGatewayRequestAuthorizerEvent;
    for (const decide of [authenticate, authenticateDashboard, admitAnyone]) {
      const at = decide === admitAnyone ? new Date("2100-01-01T12:01:30Z") : now;
      const all = await Promise.all(times(105, (index) => decide(eventFrom(`${network}::${index + 1}`), at)));
      const limited = all.filter(
        (decision) => decision !== "anyone" && "refusal" in decision && decision.refusal === "addressLimit",
      );
      expect(limited).toHaveLength(5);
      const other = await decide(eventFrom(`2001:db8:ffff:${(id % 65_536).toString(16)}::1`), at);
      expect(other).not.toMatchObject({ refusal: "addressLimit" });
    }
  });
});
