/** Which attempts to sign in by the identity provider this service knows. */
import { afterEach, expect, test, vi } from "vitest";
import * as attempts from "../../../shared/access/sign-in/attempt.ts";
import { useEngine } from "../../aws/table/engine.ts";

useEngine();
afterEach(() => {
  vi.useRealTimers();
});

const unknown = expect.objectContaining({ name: "Refusal", refusal: "attemptUnknown" });

test("ends an attempt once, also of those who do so at the same time", async () => {
  await attempts.begin("a");
  const ended = await Promise.allSettled(Array.from({ length: 20 }, () => attempts.end("a")));
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(ended).toContainEqual({ status: "rejected", reason: unknown });
});

test("refuses an attempt that it never began, or began more than 15 minutes ago", async () => {
  await expect(attempts.end("b")).rejects.toEqual(unknown);
  vi.useFakeTimers({ toFake: ["Date"] });
  await attempts.begin("c");
  await attempts.begin("d");
  vi.setSystemTime(Date.now() + 14 * 60_000);
  await attempts.end("c");
  vi.setSystemTime(Date.now() + 61_000);
  await expect(attempts.end("d")).rejects.toEqual(unknown);
});
