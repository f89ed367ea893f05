import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { authenticate } from "../../../shared/access/api/authenticate.ts";
import * as apiKeys from "../../../shared/access/keys/api-key.ts";
import { hashOf, mintApiKey, mintSession } from "../../../shared/access/keys/secret.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import { recordCapacity, useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import { presetCount, subjects } from "../../endpoints/limit-window.ts";
import { createOrganization, createUser } from "../organizations/accounts.ts";

const unlimited = { access: "full", expiresAt: null } as const;

useEngine();
let org: number;
let value: string;
beforeAll(async () => {
  org = await createOrganization();
  value = (await sessions.create(org, await createUser(org, "ada@acme.example"))).value;
});

const address = "203.0.113.7";
const host = "abc.execute-api.us-east-1.amazonaws.com";

const authenticateBy = (protocol: "http" | "https", headers: Record<string, string>, method = "GET") => {
  vi.stubEnv("PLAIN_HTTP", protocol === "http" ? "true" : undefined);
  return authenticate({
    httpMethod: method,
    multiValueHeaders: Object.fromEntries(
      Object.entries({ host, "x-forwarded-proto": protocol, ...headers }).map(([name, of]) => [name, [of]]),
    ),
    requestContext: { identity: { sourceIp: address } },
  } as unknown as APIGatewayRequestAuthorizerEvent);
};
afterEach(() => vi.unstubAllEnvs());

/** The tests of endpoints use plain HTTP, so that they cannot cover the HTTPS of deployed stacks. */
describe("a session", () => {
  test("uses the cookie `__Host-session` over HTTPS, `session` over plain HTTP", async () => {
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

  test("over HTTPS may change things only from the service's own HTTPS origin", async () => {
    const postFrom = (origin: string) =>
      authenticateBy("https", { cookie: `__Host-session=${value}`, origin }, "POST");
    expect(await postFrom(`https://${host}`)).toMatchObject({ organizationId: org });
    expect(await postFrom(`http://${host}`)).toMatchObject({ refusal: "foreignOrigin" });
    expect(await postFrom("https://attacker.example")).toMatchObject({ refusal: "foreignOrigin" });
  });
});

test("a key with a wrong checksum is counted for its address and never read", async () => {
  const { key } = await apiKeys.create(org, { ...unlimited, label: "Mistyped" }, administrator);
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

test("a key is refused from the instant of its end, like a revoked one", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  const end = Date.parse("2030-06-01T12:00:00Z");
  const ending = { label: "Ending", access: "full", expiresAt: new Date(end).toISOString() } as const;
  const { id, key } = await apiKeys.create(org, ending, administrator);
  const at = (time: number) => {
    vi.setSystemTime(time);
    return authenticateBy("https", { authorization: `Bearer ${key}` });
  };
  expect(await at(end - 1)).toMatchObject({ organizationId: org, actor: { type: "api_key", id } });
  const refused = { refusal: "unauthenticated", caller: { actorType: "api_key", actorId: id } };
  for (const time of [end, end + 1]) expect(await at(time)).toMatchObject(refused);
});

test("keys and cookies that somebody makes up cost one write, and count for nobody", async () => {
  const capacity = recordCapacity();
  const { id: user } = await createUser(org, "grace@acme.example");
  const madeUp = [
    { authorization: `Bearer ${mintApiKey(org)}` },
    { cookie: `__Host-session=${mintSession(org, user)}` },
  ];
  for (const headers of madeUp) {
    capacity.take();
    expect(await authenticateBy("https", headers)).toMatchObject({ refusal: "unauthenticated" });
    expect(capacity.take().writeUnits).toBe(1);
  }
});

test("a request that the address's limit refuses takes no place under the key's limit", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:30Z") });
  const { key } = await apiKeys.create(org, { ...unlimited, label: "Burst" }, administrator);
  const request = () => authenticateBy("https", { authorization: `Bearer ${key}` });
  // From now on its requests are counted while the key is read.
  await request();
  vi.setSystemTime(new Date("2030-01-01T00:01:30Z"));
  for (const subject of [subjects.address(address), subjects.key(hashOf(key))])
    await presetCount(subject, 99, 60);
  // The first request is counted first for the address, and last for the key.
  const counted = { "LIMIT#ADDRESS#": 0, "LIMIT#KEY#": 0 };
  const [ofAddress, ofKey] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stop = intercept<Command>("initialize", (next) => async (sent) => {
    const text = JSON.stringify(sent.input);
    const subject = (["LIMIT#ADDRESS#", "LIMIT#KEY#"] as const).find((each) => text.includes(each));
    if (subject === undefined || counted[subject] > 1) return next(sent);
    const isFirst = counted[subject]++ === 0;
    const { promise, resolve } = subject === "LIMIT#KEY#" ? ofKey : ofAddress;
    const waits = isFirst === (subject === "LIMIT#KEY#");
    if (waits) await promise;
    return next(sent).finally(() => waits || resolve());
  });
  onTestFinished(stop);
  const [first, second] = await Promise.all([request(), request()]);
  vi.useRealTimers();
  expect(first).toMatchObject({ organizationId: org });
  expect(second).toMatchObject({ refusal: "addressLimit" });
});
