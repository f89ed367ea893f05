/** When the identity provider is asked to let people choose their account. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chooseAccount, rememberRefusal, takeChoice } from "../../dashboard/account-choice.ts";

const refusals = {
  here: { status: 403, code: "user_unknown" },
  there: { status: 401, code: "provider_refused" },
  of_none: { status: 503, code: "provider_slow" },
};

describe("the choice", () => {
  beforeEach(() => {
    const kept = new Map<string, string>();
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** Whether each attempt asks. Each ends with this refusal. */
  const attempts = (...refused: (keyof typeof refusals)[]): boolean[] =>
    refused.map((by) => {
      const asks = takeChoice();
      rememberRefusal(refusals[by]);
      return asks;
    });

  test("one attempt asks after a sign-out, and after a refusal here", () => {
    expect(takeChoice()).toBe(false);
    chooseAccount();
    expect([takeChoice(), takeChoice(), takeChoice()]).toEqual([true, false, false]);
    expect(attempts("here", "here")).toEqual([false, true]);
    // Somebody who comes back from the provider's own page of an error, as from one that knows no such question.
    expect([takeChoice(), takeChoice()]).toEqual([true, false]);
  });

  test("a provider that refuses the question is not asked the next time", () => {
    expect(attempts("here", "there", "here", "there")).toEqual([false, true, false, true]);
  });

  test("every other attempt asks once the provider itself has refused twice", () => {
    expect(attempts("there", "there", "there", "there")).toEqual([false, false, true, false]);
  });

  test("a failure that has nothing to do with the account changes nothing", () => {
    expect(attempts("of_none", "of_none")).toEqual([false, false]);
  });
});

test("nobody is asked where the browser keeps nothing, and nothing fails", () => {
  const refuse = () => {
    throw new DOMException("denied", "SecurityError");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  chooseAccount();
  rememberRefusal(refusals.here);
  expect(takeChoice()).toBe(false);
  vi.unstubAllGlobals();
});
