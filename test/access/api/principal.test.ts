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

describe("the authorizer's context", () => {
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

/** dashboard/access.test.ts has who may call an endpoint. */
describe("a principal that an endpoint is not for", () => {
  const signedIn = toContext({
    organizationId: 12,
    actor: { type: "user", id: 34, label: "ada@acme.example" },
    session: { id: 56, hash: "hash", role: "admin" },
  });

  test.each<[what: string, ...args: Parameters<typeof fromContext>]>([
    ["anyone, where it takes a user", toContext("anyone"), { access: "user" }],
    ["anyone in /api/v1", toContext("anyone"), {}],
    ["a principal, where anyone may", signedIn, { access: "anyone" }],
    ["an API key, where it takes a user", context, { access: "user" }],
    ["an API key, where it takes an admin", context, { access: "admin" }],
  ])("fails the request: %s", (_, ...args) => {
    const thrown = thrownBy(() => fromContext(...args));
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(Refusal);
  });
});
