import type { Key } from "../../../shared/aws/table/keys.ts";
import { intercept, type Request } from "./intercept.ts";

/** Where tests let something happen: requests to the table, by what the body of each alone holds. */
const points = {
  "any transaction": "TransactItems",
  "a chunk that is done": "REMOVE #remaining",
  "a delivery that arrived": '"delivered"',
  "a gathered delivery": '"gathered"',
  "a lock as it was read": "(#read0_0 = :read0)",
  "a recipient who is asked": '"asked"',
  "addresses that nobody watches": "#UNWATCHED#",
  "addresses that nobody watches, or who keeps them": "UNWATCHED",
  "progress of a scan": "ADD #scannedEmails",
  "the changes of a chunk": '"changes"',
  "the doubt about an answer": "doubtedByScan",
  "the end of a bulk change": '"#status":"status"',
  "the end of a scan": "#completedAt",
  "the end of what a scan found": "findingsItemized",
  "the log entry of an added e-mail": "email.added",
  "the log entry of reopened findings": '"findings.reopened"',
  "the mark of a domain that is removed": '"removing"',
  "the oldest domain without a search": "oldestUnreached",
  "the removal of an e-mail": "REMOVAL",
  "the token of a planner": "fencingToken",
  "the use of a session": "lastUsedAt",
  "the waking of a scan": "#wakes",
  "what a scan has left": "#remaining",
} as const;

/** A named point; a request for a row or for rows of a partition; or one that holds a text. */
export type Point = keyof typeof points | Partial<Key> | { text: string };

const textOf = (point: Point): string => {
  if (typeof point === "string") return points[point];
  if ("text" in point) return point.text;
  const { pk, sk } = point as Partial<Key>;
  if (sk === undefined) return `{"S":"${pk}"}`;
  return `${pk === undefined ? "" : `"pk":{"S":"${pk}"},`}"sk":{"S":"${sk}"}`;
};

/** Whether a request, as the client sends it, is at the point. */
export const isAt = (point: Point, { request }: Request): boolean =>
  new TextDecoder().decode(request.body).includes(textOf(point));

/**
 * Runs `act` once, just before or after the table gets the next request at the point. What `act` throws, the
 * sender of the request gets.
 */
export const onTableRequest = (
  point: Point,
  when: "before" | "after",
  act: () => Promise<void>,
): { readonly happened: boolean } => {
  let happened = false;
  intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const isIt = !happened && isAt(point, sent);
    if (isIt) happened = true;
    if (isIt && when === "before") await act();
    const reply = await next(sent);
    if (isIt && when === "after") await act();
    return reply;
  });
  return {
    get happened() {
      return happened;
    },
  };
};

/** Lets this many further transactions through, and dies just before or after the next one. */
export const dieAfter = (more: number, when: "before" | "after" = "before"): void => {
  onTableRequest("any transaction", more === 0 ? when : "before", async () => {
    if (more === 0) throw new Error("The function died");
    dieAfter(more - 1, when);
  });
};
