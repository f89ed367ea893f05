/** Who may call the dashboard's part of the API, and how often. */
import { describe, expect, test } from "vitest";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import type { Route } from "../../shared/contract/endpoint.ts";
import { type OrganizationLimit, organizationLimits } from "../../shared/contract/limits.ts";
import { inOneWindow, presetCount, subjects } from "../endpoints/limit-window.ts";
import { countStatuses, expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { type Client, createClient, type Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { dashboardUrl, signedIn, visitor } from "./signed-in.ts";

const send = (client: Client, { method, path }: Route): Promise<Reply> =>
  client.request(method, path.replace(/\{\w+\}/g, "1"), method === "GET" ? {} : { body: {} });

const routesFor = (...access: string[]) =>
  dashboardRoutes.filter(({ endpoint }) => access.includes(endpoint.access ?? ""));

/** Asks all of these endpoints, a few at the same time: most have to start a function. */
const askAll = async (client: Client, routes: readonly Route[]): Promise<Reply[]> => {
  const replies: Reply[] = [];
  for (const some of chunk(routes, 6))
    replies.push(...(await Promise.all(some.map((route) => send(client, route)))));
  return replies;
};

describe("endpoints for users", () => {
  test("are 401 without a session", async () => {
    for (const reply of await askAll(visitor({ origin: "null" }), routesFor("user", "admin")))
      expectRefusal(reply, 401, /API key or session/);
  });

  test("are 403 with an API key, 401 with a revoked one", async () => {
    const { id: org, key, keyId } = await createOrganization();
    const client = createClient({ authorization: `Bearer ${key}` }, dashboardUrl());
    for (const reply of await askAll(client, routesFor("user", "admin")))
      expectRefusal(reply, 403, /not API keys/);
    expectRefusal(await client.get("/nothing"), 403, /not API keys/);
    await admin("key revoke", { org, key: keyId });
    expectRefusal(await client.get("/session"), 401, /API key or session/);
  });

  test("are 402 when the subscription has lapsed, but for /session", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org);
    await admin("org billing", { org, status: "subscription_inactive" });
    const reason = { reason: "subscription_inactive" };
    const routes = routesFor("user", "admin").filter(({ path }) => path !== "/session");
    for (const reply of await askAll(dashboard, routes)) expectRefusal(reply, 402, /not active/, reason);
    expectRefusal(await dashboard.get("/nothing"), 402, /not active/, reason);
  });

  test("are 403 admin_only for members where they need an admin", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org, { role: "member" });
    for (const reply of await askAll(dashboard, routesFor("admin")))
      expectRefusal(reply, 403, /Only an admin/, { code: "admin_only" });
  });
});

test("other sites get 403 from endpoints for anyone, except GET and those of a token", async () => {
  const elsewhere = visitor({ origin: "https://attacker.example" });
  for (const route of routesFor("anyone")) {
    if (route.method === "GET" || route.path.includes("{token}")) continue;
    expectRefusal(await send(elsewhere, route), 403, /own origin/);
  }
});

test("an unknown path is 404, another method 405 with Allow", async () => {
  const { id: org } = await createOrganization();
  const { dashboard } = await signedIn(org);
  for (const path of ["", "/", "/nothing", "/sessions/1/2", "/v1/emails", "/emails/import/preview"]) {
    expectRefusal(await dashboard.get(path), 404, /nothing at this path/);
  }
  const reply = await dashboard.request("PUT", "/session");
  expectRefusal(reply, 405, /does not support this method/);
  expect(String(reply.headers.allow).split(", ").sort()).toEqual(["DELETE", "GET"]);
  expectRefusal(await visitor().get("/sign-in/links"), 405, /does not support this method/);
  expectRefusal(await visitor().get("/nothing"), 401, /API key or session/);
});

describe("limits", () => {
  const times = <T>(count: number, act: () => T): T[] => Array.from({ length: count }, act);
  const dashboardOf = (address: string) => `DASHBOARD#${address}`;

  test("the two parts count apart: neither uses up what the other has", () =>
    inOneWindow(60, async () => {
      const { key } = await createOrganization();
      const api = new URL("/api", dashboardUrl()).href;
      const authorization = `Bearer ${key}`;
      const [one, other] = [createClient({ authorization }, api), createClient({ authorization }, api)];
      await presetCount(dashboardOf(one.address), 100, 60);
      const limited = await one.get("/dashboard/sign-in");
      expectRefusal(limited, 429, /from this address/);
      expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
      expect((await one.get("/v1/emails")).status).toBe(200);
      await presetCount(subjects.address(other.address), 100, 60);
      expectRefusal(await other.get("/v1/emails"), 429, /from this address/);
      expect((await other.get("/dashboard/sign-in")).status).toBe(200);
    }));

  test("count a user's requests by user: 50 a minute for each endpoint", () =>
    inOneWindow(60, async () => {
      const { id: org } = await createOrganization();
      const { dashboard, cookie, userId } = await signedIn(org);
      await presetCount(dashboardOf(dashboard.address), 100, 60);
      await presetCount(subjects.user(org, userId), 40, 60, "GET /dashboard/session");
      const replies = await Promise.all(times(15, () => dashboard.get("/session")));
      expect(countStatuses(replies)).toEqual({ 200: 10, 429: 5 });
      expectRefusal(await visitor({ cookie }).get("/session"), 429, /by this user/);
      expect((await dashboard.get("/teams")).status).toBe(200);
    }));

  test("cookies that somebody makes up count by address", () =>
    inOneWindow(60, async () => {
      const client = visitor();
      await presetCount(dashboardOf(client.address), 98, 60);
      const forged = (index: number) =>
        client.request("GET", "/session", {
          headers: { cookie: `session=${String(index).padStart(48, "0")}` },
        });
      const statuses = [];
      for (const index of [1, 2, 3, 4]) statuses.push((await forged(index)).status);
      expect(statuses).toEqual([401, 401, 429, 429]);
    }));

  const unknown = { ids: [unknownId] };
  const email = { email: "ada@demo.example", domainId: unknownId };
  const quote = { isEstimate: true, newSeatsCount: 0, newActiveCount: 0, estimatedDeltaCents: 0 };
  const nothing = { emails: [], quote: { interval: "month", ...quote } };
  const member = { email: "x@invited.example", role: "member" };
  const channel = `/dashboard/alert-configs/${unknownId}`;
  test.each<[limit: OrganizationLimit, ...requests: [path: string, body?: object][]]>([
    ["acknowledgements", ["/v1/breaches/acknowledgements", unknown], ["/v1/breaches/reopenings", unknown]],
    ["emailAddsAndRemovals", ["/v1/emails", email], [`DELETE /v1/emails?id=${unknownId}`]],
    ["emailChanges", [`PATCH /v1/emails/${unknownId}`, { isActive: true }]],
    ["emailBulkChanges", ["/dashboard/emails/changes", { ...unknown, remove: true }]],
    ["unwatchedChanges", ["/dashboard/unwatched/ignore", { ...unknown, ignored: true }]],
    ["importCommits", ["/v1/emails/import/commit", nothing], ["/dashboard/unwatched/watch", unknown]],
    ["invitations", ["/dashboard/members", member], [`/dashboard/members/1/invitation`]],
    ["apiKeys", ["/dashboard/api-keys", { label: "Backup" }]],
    ["memberChanges", [`PATCH /dashboard/members/${unknownId}`, { name: "Ada" }]],
    ["alertTests", [`${channel}/test`], [`${channel}/deliveries/1/redeliver`]],
  ])("of an organization and hour, %s, is shared by all requests it is for", (limit, ...requests) =>
    inOneWindow(3600, async () => {
      const { id: org, key } = await createOrganization();
      const { cookie } = await signedIn(org);
      await presetCount(subjects.organization(org, limit), organizationLimits[limit] - 1, 3600);
      const api = new URL("/api", dashboardUrl()).href;
      const byUser = createClient({ cookie, origin: new URL(api).origin }, api);
      const byKey = createClient({ authorization: `Bearer ${key}` }, api);
      const send = (client: Client, [line, body]: [line: string, body?: object]) => {
        const [path = "", method = "POST"] = line.split(" ").reverse();
        return client.request(method, path, { body });
      };
      const [first] = requests as [[string, object?]];
      const isForKeys = first[0].includes("/v1/");
      expect([201, 400, 404]).toContain((await send(isForKeys ? byKey : byUser, first)).status);
      for (const request of requests) {
        const refused = await send(byUser, request);
        expectRefusal(refused, 429, /hourly limit/);
        expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      }
    }),
  );
});
