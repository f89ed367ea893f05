/** Requests to change many findings, each followed to its end. */
import { asFailure, call, serviceTime, sleep } from "../../api/client.ts";
import { Failure, isPassing } from "../../api/failure.ts";
import type { Finding, Input } from "../../api/routes.ts";
import { count } from "../../text/words.ts";
import { bodyOf, type Filters, inWords, namesOf, openOnes } from "./filters.ts";

export type Selection = {
  filter: NonNullable<Input<"POST /v1/breaches/reopenings">["body"]["filter"]>;
  total: number;
  /** Whether some of them are open. Acknowledging the others only replaces what was said of them. */
  isOpen: boolean;
  /** Says which findings they are, if some of them may be on other pages. */
  words?: string;
};

/**
 * Of findings that were chosen one by one: the acknowledged ones to reopen; to acknowledge the open ones, or
 * all if none is open. What colleagues have changed since the page loaded is left as it is.
 */
export const chosenOf = (findings: readonly Finding[], isReopening: boolean): Selection => {
  const open = isReopening ? [] : findings.filter(({ acknowledged }) => !acknowledged);
  const isOpen = open.length > 0;
  const some = isOpen ? open : findings.filter(({ acknowledged }) => acknowledged);
  return { filter: { ids: some.map(({ id }) => id), acknowledged: !isOpen }, total: some.length, isOpen };
};

/**
 * All findings that match now, on every page. Where the filters name no state: the acknowledged ones to
 * reopen, the open ones to acknowledge.
 */
export async function matchingOf(filters: Filters, isReopening: boolean): Promise<Selection> {
  const { acknowledged = String(isReopening) } = filters;
  const wanted = { ...filters, acknowledged };
  const detectedBefore = serviceTime().toISOString();
  const page = await call("GET /dashboard/findings", { query: { ...wanted, limit: 1 } });
  return {
    filter: { ...bodyOf(wanted), detectedBefore },
    total: page.total,
    isOpen: acknowledged === openOnes,
    words: inWords(wanted, page.total, namesOf(page)),
  };
}

/** Reopens a selection that was acknowledged. Those that were acknowledged before or since stay acknowledged. */
export const undo = ({ filter }: Pick<Selection, "filter">, acknowledgedAt: string): Promise<State> =>
  change({ filter: { ...filter, acknowledged: true, acknowledgedAt } });

export type Progress = { matching: number; done: number };
type State = Progress & { createdAt: string };

/** The code of a failure after which some findings are changed and others are not. */
export const partlyDone = "partly_done";

type Options = {
  /** They are acknowledged; without one they are reopened. */
  resolution?: "handled" | "ignored" | undefined;
  reason?: string | undefined;
  onProgress?: (progress: Progress) => void;
};

/** How many polls in a row may fail before the page stops following a request. */
const mostUnseen = 12;

/** Acknowledges findings, or reopens them. @throws Failure */
export async function change(
  { filter }: Pick<Selection, "filter">,
  { resolution, reason, onProgress }: Options = {},
): Promise<State> {
  const path = `/v1/breaches/${resolution === undefined ? "reopenings" : "acknowledgements"}` as const;
  const { id, matching } = await call(`POST ${path}`, { body: { filter, resolution, reason } });
  onProgress?.({ matching, done: 0 });
  // Ever more seldom: an office behind one address has 100 requests a minute.
  for (let pause = 700, unseen = 0; ; pause = Math.min(1.2 * pause, 5_000)) {
    const seen = await call(`GET ${path}/{id}`, { path: { id } }).catch((error: unknown) => {
      // The service continues the request even if this poll fails.
      unseen += 1;
      if (unseen > mostUnseen || !isPassing(asFailure(error))) throw error;
    });
    if (seen !== undefined) {
      const { status, createdAt } = seen;
      const done = "reopened" in seen ? seen.reopened : seen.acknowledged;
      unseen = 0;
      onProgress?.({ matching, done });
      if (status === "completed") return { matching, done, createdAt };
      if (status === "failed") {
        throw new Failure(`Only ${count(done, "finding was", "findings were")} changed.`, {
          status: 500,
          code: partlyDone,
        });
      }
    }
    await sleep(pause);
  }
}
