/** Attacks of one organization on another. After them the victim is what it was before. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { createRecipient } from "../dashboard/recipients.ts";
import { createToken, signedIn, visitor } from "../dashboard/signed-in.ts";
import { expectUnauthenticated, getWith } from "../endpoints/credentials.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { preview } from "../endpoints/upload.ts";
import type { Client, Reply } from "./client.ts";
import { createKeyClient, createOrganization } from "./organization.ts";
import { createTenant, stateOf, type Tenant } from "./tenant.ts";

let attacker: Tenant;
let victim: Tenant;
let before: unknown;

beforeAll(async () => {
  [attacker, victim] = await Promise.all([createTenant(), createTenant()]);
  before = await stateOf(victim);
});

// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  attacker.api = await createKeyClient(attacker.id);
});

afterAll(async () => expect(await stateOf(victim)).toEqual(before));

type Attempt = [part: "v1" | "dashboard", method: string, path: string, body?: unknown];

describe("ids of another organization", () => {
  /** Every place that takes an id of something that an organization has. */
  const attempts = (of: Tenant["ids"]): Attempt[] => {
    const { userId, sessionId } =
      of === victim.ids ? victim.user : { userId: unknownId, sessionId: unknownId };
    return [
      ["v1", "PATCH", `/emails/${of.email}`, { isActive: false }],
      ["v1", "DELETE", `/emails?id=${of.email}`],
      ["v1", "POST", "/emails", { email: "eve@demo.example", domainId: of.domain }],
      ["v1", "POST", "/emails", { email: "eve@demo.example", domainId: attacker.domainId, teamId: of.team }],
      ["v1", "GET", `/emails?teamId=${of.team}`],
      ["v1", "GET", `/emails?domainId=${of.domain}`],
      ["v1", "GET", `/breaches?scanId=${of.scan}`],
      ["v1", "POST", "/breaches/acknowledge", { id: of.finding }],
      ["v1", "POST", "/breaches/acknowledgements", { ids: [of.finding] }],
      ["v1", "POST", "/breaches/acknowledgements", { ids: [attacker.ids.finding, of.finding] }],
      ["v1", "POST", "/breaches/acknowledgements", { ids: [of.finding], dryRun: true }],
      ["v1", "POST", "/breaches/acknowledgements", { filter: { emailId: of.email }, dryRun: true }],
      ["v1", "POST", "/breaches/acknowledgements", { filter: { domainId: of.domain }, dryRun: true }],
      ["v1", "POST", "/breaches/acknowledgements", { filter: { scanId: of.scan }, dryRun: true }],
      ["v1", "GET", `/breaches/acknowledgements/${of.acknowledgement}`],
      ["v1", "POST", "/breaches/reopenings", { ids: [of.finding] }],
      ["v1", "GET", `/breaches/reopenings/${of.acknowledgement}`],
      ["v1", "GET", `/scans/${of.scan}/coverage`],
      ["v1", "GET", `/alert-configs/${of.channel}/options`],
      ["v1", "PUT", `/alert-configs/${of.channel}/options`, options],
      ["v1", "PATCH", `/alert-configs/${of.channel}`, { config: { url: "https://192.0.32.9/eve" } }],
      ["v1", "PATCH", `/alert-configs/${of.channel}`, { isEnabled: false }],
      ["v1", "DELETE", `/alert-configs/${of.channel}`],
      ["dashboard", "DELETE", `/sessions/${sessionId}`],
      ["dashboard", "DELETE", `/api-keys/${of.key}`],
      ["dashboard", "POST", `/domains/${of.domain}/check`],
      ["dashboard", "DELETE", `/domains/${of.domain}`],
      ["dashboard", "PATCH", `/teams/${of.team}`, { name: "Taken over" }],
      ["dashboard", "DELETE", `/teams/${of.team}`],
      ["dashboard", "PATCH", `/members/${userId}`, { role: "member" }],
      ["dashboard", "DELETE", `/members/${userId}`],
      ["dashboard", "POST", `/members/${userId}/invitation`],
      ["dashboard", "GET", `/directories/${of.directory}`],
      ["dashboard", "PATCH", `/directories/${of.directory}`, { newToken: true }],
      ["dashboard", "DELETE", `/directories/${of.directory}`],
      ["dashboard", "PUT", "/breaches/1/assignee", { userId }],
      ["dashboard", "GET", `/emails/${of.email}`],
      ["dashboard", "GET", `/findings/${of.finding}`],
      ["dashboard", "POST", "/findings/tell", { ids: [of.finding] }],
      ["dashboard", "POST", "/findings/tell", { ids: [attacker.ids.finding, of.finding] }],
      ["dashboard", "POST", "/emails/changes", { ids: [of.email], set: { isActive: false } }],
      ["dashboard", "POST", "/emails/changes", { ids: [attacker.ids.email], set: { teamId: of.team } }],
      ["dashboard", "PATCH", `/emails/${of.email}`, { ownerName: "Eve" }],
      ["dashboard", "PATCH", `/emails/${attacker.ids.email}`, { teamId: of.team }],
      ["dashboard", "GET", `/findings?emailId=${of.email}`],
      ["dashboard", "GET", `/findings?domainId=${of.domain}`],
      ["v1", "GET", `/events/${of.delivery}`],
      ["dashboard", "GET", `/alert-configs/${of.channel}/deliveries`],
      ["dashboard", "GET", `/alert-configs/${of.channel}/deliveries/${of.delivery}`],
      ["dashboard", "GET", `/alert-configs/${attacker.ids.channel}/deliveries/${of.delivery}`],
      ["dashboard", "POST", `/alert-configs/${of.channel}/test`],
      ["dashboard", "POST", `/alert-configs/${of.channel}/deliveries/${of.delivery}/redeliver`],
      ["dashboard", "POST", `/alert-configs/${attacker.ids.channel}/deliveries/${of.delivery}/redeliver`],
      ["dashboard", "POST", `/alert-configs/${of.channel}/deliveries/${attacker.ids.delivery}/redeliver`],
    ];
  };
  const options = {
    name: null,
    minSeverity: "low",
    grouping: "address",
    sensitive: "named",
    tellOwners: false,
  };
  const send = ([part, method, path, body]: Attempt): Promise<Reply> =>
    (part === "v1" ? attacker.api : attacker.user.dashboard).request(method, path, { body });

  /** What a reply says, but for an id that it repeats from the request. */
  const withoutIds = ({ body }: Reply): string => JSON.stringify(body).replace(/the id \d+/, "the id");

  test("are tried at every endpoint with an id in its path", () => {
    const tried = attempts(victim.ids).map(
      ([part, method, path]) => `${part} ${method} ${path.replace(/\?.*/, "").replaceAll(/\d+/g, "{}")}`,
    );
    // Tokens of recipients are no ids; breaches and rules are the same for all organizations. Removing a passkey
    // says the same of all passkeys, and passkeys.test has another user's.
    const others = [
      "/recipients/",
      "dashboard GET /breaches/",
      "dashboard POST /breaches/",
      "/rules/",
      "dashboard DELETE /passkeys/",
    ];
    const all = [
      ...routes.map((route) => ({ part: "v1", ...route })),
      ...dashboardRoutes.map((route) => ({ part: "dashboard", ...route })),
    ]
      .filter(({ path }) => path.includes("{"))
      .map(({ part, method, path }) => `${part} ${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`)
      .filter((route) => !others.some((each) => route.includes(each)));
    expect(all.filter((route) => !tried.includes(route))).toEqual([]);
  });

  test("get the same answer as ids that do not exist", async () => {
    const never = Object.fromEntries(
      Object.keys(victim.ids).map((name) => [name, unknownId]),
    ) as Tenant["ids"];
    const unknown = attempts(never);
    const expectAlike = async (attempt: Attempt, index: number) => {
      const [foreign, other] = await Promise.all([send(attempt), send(unknown[index] as Attempt)]);
      expect([attempt, foreign.status, withoutIds(foreign)]).toEqual([
        attempt,
        other.status,
        withoutIds(other),
      ]);
      const isFilter = attempt[1] === "GET" && attempt[2].includes("?");
      const isDryRun = JSON.stringify(attempt[3])?.includes('"filter"') === true;
      if (isFilter) expect(foreign).toMatchObject({ status: 200, body: { total: 0 } });
      else if (isDryRun) expect(foreign).toMatchObject({ status: 200, body: { matching: 0 } });
      else expect([attempt, foreign.status]).toEqual([attempt, 404]);
    };
    // A few at the same time: most have to start a function.
    for (const some of chunk([...attempts(victim.ids).entries()], 4))
      await Promise.all(some.map(([index, attempt]) => expectAlike(attempt, index)));
  });

  test("in a plan that the other previewed import nothing", async () => {
    const { body: plan } = await preview(victim.api, "email\nnew@demo.example\n");
    expect(plan).toMatchObject({ emails: [{ domainId: victim.domainId, status: "will_import" }] });
    const { total } = (await attacker.api.get("/emails")).body;
    const committed = await attacker.api.post("/emails/import/commit", plan);
    expectRefusal(committed, 409, /./, { code: "quote_mismatch" });
    expect((await attacker.api.get("/emails")).body.total).toBe(total);
  });
});

test("fields that nobody may set, such as billing, leave an organization's as they are", async () => {
  const { dashboard } = attacker.user;
  const { billing } = (await dashboard.get("/organization")).body;
  const body = {
    name: "Attackers",
    id: victim.id,
    organizationId: victim.id,
    pk: `ORG#${victim.id}`,
    billing: { status: "active", seatAllowance: 1_000_000, seatPriceCents: 0 },
    seatAllowance: 1_000_000,
  };
  expect((await dashboard.patch("/organization", body)).status).toBe(200);
  expect((await dashboard.get("/organization")).body).toMatchObject({
    id: attacker.id,
    name: "Attackers",
    billing,
  });
});

describe("credentials", () => {
  test("with another organization's or user's beginning are nobody's", async () => {
    const [own, other] = [attacker, victim].map(({ user }) => user.cookie.replace("session=", "")) as [
      string,
      string,
    ];
    expect((await getWith({ cookie: `session=${own}` })).status).toBe(200);
    for (const length of [8, 16, 17, 47]) {
      const mixed = `${other.slice(0, length)}${own.slice(length)}`;
      // One cookie in 62 ends as the other does.
      if (mixed !== other) expectUnauthenticated(await getWith({ cookie: `session=${mixed}` }));
    }
    for (const cut of [5, 8, 12, 20, 36]) {
      const authorization = `Bearer ${victim.key.slice(0, cut)}${attacker.key.slice(cut)}`;
      if (!authorization.endsWith(attacker.key)) expectUnauthenticated(await getWith({ authorization }));
    }
  });

  test("of one kind do not pass as those of another kind", async () => {
    const session = attacker.user.cookie.replace("session=", "");
    const token = await createToken(attacker.id, attacker.user.userId);
    const { token: recipient } = await createRecipient(attacker.id);
    for (const value of [attacker.key, token, recipient]) {
      expectUnauthenticated(await getWith({ cookie: `session=${value}` }));
    }
    for (const value of [session, token, recipient]) {
      expectUnauthenticated(await getWith({ authorization: `Bearer ${value}` }));
    }
    for (const value of [session, attacker.key, recipient]) {
      const redeemed = await visitor().post("/sign-in/sessions", { token: value });
      expectRefusal(redeemed, 401, /./, { code: "invalid_link" });
    }
    expect((await visitor().post("/sign-in/sessions", { token })).status).toBe(201);
  });
});

describe("answers", () => {
  const emailsOf = ({ api }: { api: Client }) => api.get("/emails").then(({ body }) => JSON.stringify(body));

  test("to many at once, by key and by cookie, are not mixed up", async () => {
    const expected = { own: await emailsOf(attacker), other: await emailsOf(victim) };
    const replies = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const [name, { api, user }] =
          index % 2 === 0 ? (["own", attacker] as const) : (["other", victim] as const);
        const client = index % 4 < 2 ? api : user.v1;
        return [name, JSON.stringify((await client.get("/emails")).body)] as const;
      }),
    );
    for (const [name, body] of replies) expect(body).toBe(expected[name]);
  });
});

test("names that look like keys and expressions of the table are kept as they are", async () => {
  const organization = await createOrganization();
  const { dashboard } = await signedIn(organization.id);
  const names = [`ORG#${victim.id}`, "TEAM#1", "#pk = :pk", ":v", "attribute_exists(pk)", "{{7*7}}"];
  for (const name of names) expect((await dashboard.post("/teams", { name })).status).toBe(201);
  const teams = await dashboard.list("/teams");
  expect(teams.map(({ name }) => name).reverse()).toEqual(names);
  const addresses = [
    `org#${victim.id}@demo.example`,
    "a#email#1@demo.example",
    "{{7*7}}@demo.example",
    "__proto__@demo.example",
  ];
  const { api, domainId } = organization;
  for (const email of addresses) expect((await api.post("/emails", { email, domainId })).status).toBe(201);
  const emails = await api.list("/emails");
  expect(emails.map(({ email }) => email).reverse()).toEqual(addresses);
});
