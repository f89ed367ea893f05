/** Requests to change many findings, each followed to its end. */
import { allPages } from "../../api/all-pages.ts";
import { call, sleep } from "../../api/client.ts";
import { Failure } from "../../api/failure.ts";
import type { Finding } from "../../api/routes.ts";
import { count } from "../../text/words.ts";
import { bodyOf, type Filters } from "./filters.ts";

type Chosen = Pick<Finding, "id" | "acknowledged">;

export type Selection =
  | { kind: "chosen"; findings: readonly Chosen[] }
  /** All that match, also those on other pages, that were detected before a time. */
  | { kind: "matching"; filters: Filters; total: number; words: string };

/** How far a request is. */
export type Progress = { matching: number; done: number };
type State = Progress & { status: string; createdAt: string };

type Options = {
  reason?: string | undefined;
  /** Findings that are detected later are not touched. */
  openedAt: string;
  onProgress?: (progress: Progress) => void;
};

const bodyFor = (selection: Selection, { reason, openedAt }: Options) => ({
  ...(selection.kind === "chosen"
    ? { ids: selection.findings.map(({ id }) => id) }
    : { filter: { ...bodyOf(selection.filters), detectedBefore: openedAt } }),
  ...(reason !== undefined && { reason }),
});

/** The code of a failure after which some findings are changed and others are not. */
export const partlyDone = "partly_done";

async function follow(matching: number, read: () => Promise<State>, { onProgress }: Options): Promise<State> {
  onProgress?.({ matching, done: 0 });
  for (;;) {
    const state = await read();
    onProgress?.(state);
    if (state.status === "completed") return state;
    if (state.status === "failed") {
      throw new Failure(`Only ${count(state.done, "finding was", "findings were")} changed.`, {
        status: 500,
        code: partlyDone,
      });
    }
    await sleep(700);
  }
}

type Resolution = "handled" | "ignored";

export async function acknowledge(
  selection: Selection,
  resolution: Resolution,
  options: Options,
): Promise<State> {
  const body = { ...bodyFor(selection, options), resolution };
  const { id, matching } = await call("POST /v1/breaches/acknowledgements", { body });
  const read = async (): Promise<State> => {
    const route = "GET /v1/breaches/acknowledgements/{id}";
    const { acknowledged: done, ...state } = await call(route, { path: { id } });
    return { ...state, done };
  };
  return follow(matching, read, options);
}

export async function reopen(selection: Selection, options: Options): Promise<State> {
  const body = bodyFor(selection, options);
  const { id, matching } = await call("POST /v1/breaches/reopenings", { body });
  const read = async (): Promise<State> => {
    const { reopened: done, ...state } = await call("GET /v1/breaches/reopenings/{id}", { path: { id } });
    return { ...state, done };
  };
  return follow(matching, read, options);
}

/** A request names at most so many findings. */
const mostIds = 1000;

/** Whether reopening undoes that a selection is acknowledged: not if that only replaces what was said of it. */
export const canUndo = (selection: Selection): boolean =>
  selection.kind === "matching" || selection.findings.some(({ acknowledged }) => !acknowledged);

/**
 * Reopens what a request acknowledged, and nothing that was acknowledged before: its findings carry the time of the request.
 * Resolves to how many were reopened.
 */
export async function undo(selection: Selection, acknowledgedAt: string): Promise<number> {
  const findings =
    selection.kind === "chosen"
      ? selection.findings
      : await acknowledgedOnes(selection.filters, acknowledgedAt);
  let done = 0;
  for (let start = 0; start < findings.length; start += mostIds) {
    const some = { kind: "chosen", findings: findings.slice(start, start + mostIds) } as const;
    done += (await reopen(some, { openedAt: acknowledgedAt })).done;
  }
  return done;
}

async function acknowledgedOnes(filters: Filters, acknowledgedAt: string): Promise<Chosen[]> {
  const ones: Chosen[] = [];
  const pages = allPages((page) =>
    call("GET /dashboard/findings", { query: { ...filters, acknowledged: "true", ...page } }),
  );
  for await (const { findings } of pages)
    ones.push(...findings.filter((finding) => finding.acknowledgedAt === acknowledgedAt));
  return ones;
}
