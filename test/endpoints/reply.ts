import { expect } from "vitest";
import type { Reply } from "../service/client.ts";

/** Asserts the headers of every reply, refused or not: X-Request-Id, and Cache-Control: no-store. */
export const expectEveryHeader = ({ headers }: Reply): void => {
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["x-request-id"]).toMatch(/^[\w+/=]{12,}$/);
};

/** Asserts that a reply is `{error}` with exactly these further fields. */
export const expectRefusal = (
  reply: Reply,
  status: number,
  error: RegExp,
  further: { code?: string; reason?: string } = {},
): void => {
  const { status: given, body } = reply;
  expect({ status: given, body }).toEqual({
    status,
    body: { error: expect.stringMatching(error), ...further },
  });
  expectEveryHeader(reply);
};

/** The number of replies by status: `{ 200: 100, 429: 50 }`. */
export const countStatuses = (replies: readonly Reply[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Times are ISO 8601 in UTC with milliseconds. */
export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** A valid id that was never given. */
export const unknownId = 9_000_000_000_000_000;
