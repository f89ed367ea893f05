import { describe, expect, test } from "vitest";
import { fromContext, toContext } from "../../../shared/access/api/principal.ts";
import { Refusal } from "../../../shared/contract/errors.ts";

const principal = { organizationId: 12, actor: { type: "api_key", id: 34, label: "Test key" } } as const;
const context = toContext(principal);

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("the context that the authorizer passes on", () => {
  test("is read as the same principal or refusal", () => {
    expect(fromContext(context)).toEqual(principal);
    const refused = thrownBy(() => fromContext(toContext({ refusal: "keyLimit", retryAfterSeconds: 7 })));
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ refusal: "keyLimit", headers: { "Retry-After": "7" } });
  });

  test.each<[what: string, context: Record<string, unknown> | null | undefined]>([
    ["undefined", undefined],
    ["null", null],
    ["empty", {}],
    ["another text", { decision: "anyone" }],
    ["null in JSON", { decision: "null" }],
    ["no organization", { decision: JSON.stringify({ actor: principal.actor }) }],
    [
      "an organization that is no number",
      { decision: JSON.stringify({ ...principal, organizationId: "1" }) },
    ],
    ["an unknown refusal", { decision: JSON.stringify({ refusal: "none" }) }],
  ])("without a principal and a refusal fails the request: %s", (_, without) => {
    const thrown = thrownBy(() => fromContext(without));
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(Refusal);
  });
});

describe("who may call an endpoint", () => {
  const userOf = (role: "admin" | "member") => ({
    organizationId: 12,
    actor: { type: "user" as const, id: 34, label: "ada@acme.example" },
    session: { id: 56, hash: "hash", role },
  });
  const signedIn = (role: "admin" | "member") => toContext(userOf(role));
  const lapsed = toContext({ ...userOf("admin"), lapsed: "trialExpired" });
  const refusalOf = (...args: Parameters<typeof fromContext>) =>
    (thrownBy(() => fromContext(...args)) as Refusal | undefined)?.refusal;

  test("a user with a session", () => {
    for (const role of ["admin", "member"] as const) {
      expect(fromContext(signedIn(role), { access: "user" })).toMatchObject({ session: { id: 56, role } });
    }
    expect(fromContext(signedIn("admin"), { access: "admin" })).toMatchObject({ organizationId: 12 });
  });

  test("not a member, where it takes an admin", () => {
    expect(refusalOf(signedIn("member"), { access: "admin" })).toBe("adminOnly");
  });

  test("not a user of a lapsed organization, unless the endpoint answers that", () => {
    expect(refusalOf(lapsed, { access: "user" })).toBe("trialExpired");
    expect(refusalOf(lapsed)).toBe("trialExpired");
    expect(fromContext(lapsed, { access: "user", whenLapsed: "answers" })).toMatchObject({
      organizationId: 12,
    });
  });

  test("anyone, where anyone may and the authorizer looked at no credential", () => {
    expect(fromContext(toContext("anyone"), { access: "anyone" })).toBeUndefined();
  });

  test.each<[what: string, ...args: Parameters<typeof fromContext>]>([
    ["anyone, where it takes a user", toContext("anyone"), { access: "user" }],
    ["anyone in /api/v1", toContext("anyone"), {}],
    ["a principal, where anyone may", signedIn("admin"), { access: "anyone" }],
    ["an API key, where it takes a user", context, { access: "user" }],
    ["an API key, where it takes an admin", context, { access: "admin" }],
  ])("fails the request otherwise: %s", (_, ...args) => {
    const thrown = thrownBy(() => fromContext(...args));
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(Refusal);
  });
});
