import { describe, expect, test } from "vitest";
import { Refusal } from "../../shared/api/errors.ts";
import { fromContext, toContext } from "../../shared/api/principal.ts";

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

describe("what the authorizer hands on", () => {
  test("comes back as the principal or as its refusal", () => {
    expect(fromContext(context)).toEqual(principal);
    const refused = thrownBy(() => fromContext(toContext({ refusal: "keyLimit", retryAfterSeconds: 7 })));
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ refusal: "keyLimit", headers: { "Retry-After": "7" } });
  });

  test.each<[what: string, context: Record<string, unknown> | null | undefined]>([
    ["no context", undefined],
    ["null", null],
    ["nothing in it", {}],
    ["no organization", { ...context, organizationId: undefined }],
    ["an organization that is no number", { ...context, organizationId: "x" }],
    ["an organization 0", { ...context, organizationId: "0" }],
    ["an empty organization", { ...context, organizationId: "" }],
    ["a fraction of an organization", { ...context, organizationId: "1.5" }],
    ["no actor", { ...context, actorId: undefined }],
    ["an actor of another type", { ...context, actorType: "system" }],
    ["an actor without a label", { ...context, actorLabel: undefined }],
    ["a refusal that there is not", { refusal: "none" }],
  ])("names nobody, and the request fails closed: %s", (_, without) => {
    const thrown = thrownBy(() => fromContext(without));
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(Refusal);
  });
});
