import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { authenticate } from "../../../shared/access/api/authenticate.ts";
import * as apiKeys from "../../../shared/access/keys/api-key.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import { withTimeOfPeople } from "../../../shared/aws/table/patience.ts";
import { recordCapacity, useEngine } from "../../aws/table/engine.ts";
import { intercept, type Request } from "../../aws/table/intercept.ts";
import { activeBilling } from "../organizations/billing.ts";

useEngine();
let org: number;
let value: string;
beforeAll(async () => {
  const created = await organizations.create({ name: "Test", billing: activeBilling, scanEvery: "never" });
  org = created.id;
  const user = await users.create(org, { email: "ada@acme.example", name: null });
  if (user === "exists") throw new Error("Another user has the address ada@acme.example");
  value = (await sessions.create(org, user)).value;
});

const host = "abc.execute-api.us-east-1.amazonaws.com";

const authenticateBy = (protocol: "http" | "https", headers: Record<string, string>, method = "GET") => {
  vi.stubEnv("PLAIN_HTTP", protocol === "http" ? "true" : undefined);
  return authenticate({
    httpMethod: method,
    multiValueHeaders: Object.fromEntries(
      Object.entries({ host, "x-forwarded-proto": protocol, ...headers }).map(([name, of]) => [name, [of]]),
    ),
    requestContext: { identity: { sourceIp: "203.0.113.7" } },
  } as unknown as APIGatewayRequestAuthorizerEvent);
};
afterEach(() => vi.unstubAllEnvs());

/** The tests of endpoints use plain HTTP, so that they cannot cover the HTTPS of deployed stacks. */
describe("a session", () => {
  test("is the cookie `__Host-session` over HTTPS and `session` over plain HTTP", async () => {
    const signedIn = { organizationId: org, actor: { type: "user", label: "ada@acme.example" } };
    expect(await authenticateBy("https", { cookie: `__Host-session=${value}` })).toMatchObject(signedIn);
    expect(await authenticateBy("https", { cookie: `session=${value}` })).toMatchObject({
      refusal: "unauthenticated",
    });
    expect(await authenticateBy("http", { cookie: `session=${value}` })).toMatchObject(signedIn);
    expect(await authenticateBy("http", { cookie: `__Host-session=${value}` })).toMatchObject({
      refusal: "unauthenticated",
    });
  });

  test("is not taken for one over plain HTTP because a header says so", async () => {
    const headers = { cookie: `session=${value}`, "x-forwarded-proto": "http" };
    expect(await authenticateBy("https", headers)).toMatchObject({ refusal: "unauthenticated" });
    const posted = {
      cookie: `__Host-session=${value}`,
      origin: `http://${host}`,
      "x-forwarded-proto": "http",
    };
    expect(await authenticateBy("https", posted, "POST")).toMatchObject({ refusal: "foreignOrigin" });
  });

  test("over HTTPS may change something only from the service's own HTTPS origin", async () => {
    const postFrom = (origin: string) =>
      authenticateBy("https", { cookie: `__Host-session=${value}`, origin }, "POST");
    expect(await postFrom(`https://${host}`)).toMatchObject({ organizationId: org });
    expect(await postFrom(`http://${host}`)).toMatchObject({ refusal: "foreignOrigin" });
    expect(await postFrom("https://attacker.example")).toMatchObject({ refusal: "foreignOrigin" });
  });
});

test("a key with a wrong checksum is counted for its address and never read", async () => {
  const { key } = await apiKeys.create(org, "Mistyped", administrator);
  const wrong = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  const capacity = recordCapacity();
  expect(await authenticateBy("https", { authorization: `Bearer ${wrong}` })).toEqual({
    refusal: "unauthenticated",
  });
  expect(capacity.take()).toEqual({ readUnits: 0, writeUnits: 1, calls: 1 });
  // A key of the right form is read, with its organization.
  expect(await authenticateBy("https", { authorization: `Bearer ${key}` })).toMatchObject({
    organizationId: org,
  });
  expect(capacity.take().readUnits).toBe(2);
});

test("of 150 simultaneous requests with one key from one address at most 100 pass", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:30Z") });
  const { key } = await apiKeys.create(org, "Burst", administrator);
  // A count that a busy machine does not answer in time is repeated, and may count its request twice.
  let repeated = 0;
  const stop = intercept<Request>(
    "finalizeRequest",
    (next) => (sent) =>
      next(sent).catch((error: Error) => {
        if (error.name === "TimeoutError") repeated += 1;
        throw error;
      }),
  );
  const decisions = await Promise.all(
    // As the authorizer's handler does: a connection that a busy machine does not open in time is tried again.
    Array.from({ length: 150 }, () =>
      withTimeOfPeople(60, () => authenticateBy("https", { authorization: `Bearer ${key}` })),
    ),
  );
  stop();
  vi.useRealTimers();
  const counts = Map.groupBy(decisions, (each) => ("refusal" in each ? each.refusal : "passed"));
  const countOf = (outcome: "passed" | "keyLimit" | "addressLimit") => counts.get(outcome)?.length ?? 0;
  const admitted = countOf("passed") + countOf("keyLimit");
  expect(admitted).toBeLessThanOrEqual(100);
  expect(admitted + repeated).toBeGreaterThanOrEqual(100);
  expect(countOf("passed") + repeated).toBeGreaterThan(90);
  expect(countOf("addressLimit")).toBe(150 - admitted);
});
