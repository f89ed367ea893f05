import { expect } from "vitest";
import type { Reply } from "../service/client.ts";

/** What every reply carries, refused or not (decisions.md "Limits"). */
export const expectEveryHeader = ({ headers }: Reply): void => {
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
};

/** Asserts that a reply is the contract's `{error}`, with these further fields and no others. */
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

/** How many replies there are of each status: `{ 200: 100, 429: 50 }`. */
export const countStatuses = (replies: readonly Reply[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** ISO 8601 in UTC with milliseconds (interface.md "Resources and their fields"). */
export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** An id that nobody has. */
export const unknownId = 9_000_000_000_000_000;
