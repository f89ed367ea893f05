import { chunk } from "../aws/table/chunk.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { rangeName } from "../monitoring/emails/watermark.ts";
import * as catalog from "../monitoring/hibp/catalog.ts";
import { compareAll } from "../monitoring/unwatched/compare.ts";
import type { DomainAnswer } from "./ask-upstream.ts";
import { compareEmail, type EmailChange, isIncluded } from "./compare-email.ts";
import { chunkName, inChunks, lookupChunk } from "./email-chunks.ts";
import type { Planner } from "./fencing-token.ts";
import { addFailures, type Failures } from "./record.ts";

/** How many blocks of e-mails are read at the same time. */
const concurrency = 8;

/**
 * What is to be done for a batch. `unchanged`: e-mails that need no write; `failures`: how many e-mails are of domains
 * without an answer, by its reason.
 */
export type BatchWork = {
  unchanged: number;
  failures: Failures;
  /** `changes` is empty in chunks of look-ups. */
  chunks: { chunk: string; emails: number; changes: EmailChange[] }[];
};

/** Compares the e-mails of a batch's domains with the answers, reading them after HIBP has answered. */
export const compareBatch = async (
  { org, scanId }: Planner,
  answers: readonly DomainAnswer[],
): Promise<BatchWork> => {
  const work: BatchWork = { unchanged: 0, failures: new Map(), chunks: [] };
  const byDomain = new Map(answers.map((answer) => [answer.domain.id, answer]));
  const breachIds = await breachIdsOf(answers);
  const blocks = emails.blocks(
    await emails.directory(org),
    // Disabled e-mails are watched too, as far as unwatched addresses go.
    ({ domainId, isActive }) =>
      isActive ? byDomain.has(domainId) : byDomain.get(domainId)?.state === "checked",
  );
  const changed: EmailChange[][] = [];
  const watched = new Set<string>();
  for (const someBlocks of chunk(blocks, concurrency)) {
    const read = await Promise.all(someBlocks.map((block) => emails.members(org, block)));
    for (const rows of read) {
      const changes: EmailChange[] = [];
      const single: Email[] = [];
      for (const row of rows) {
        const group = emails.groupOf(row);
        const answer = byDomain.get(group.domainId);
        if (answer?.state === "checked") watched.add(row.email);
        if (answer === undefined || !isIncluded(row, group, scanId)) continue;
        if (answer.state === "checked") {
          const change = compareEmail(row, breachesOf(row, answer.breachNames, breachIds));
          if (change === undefined) work.unchanged++;
          else changes.push(change);
        } else if (answer.state === "single") single.push(row);
        else addFailures(work.failures, answer.reason, 1);
      }
      if (changes.length > 0) changed.push(changes);
      if (single.length > 0) {
        work.chunks.push({
          chunk: lookupChunk(rangeNameOf(single.map((row) => row.id))),
          emails: single.length,
          changes: [],
        });
      }
    }
  }
  const checked = answers.filter((answer) => answer.state === "checked");
  await compareAll(org, checked, { watched, breachIds });
  for (const ranges of inChunks(changed)) {
    const changes = ranges.flat();
    const names = ranges.map((range) => rangeNameOf(range.map((change) => change.emailId)));
    work.chunks.push({ chunk: chunkName(names), emails: changes.length, changes });
  }
  return work;
};

const rangeNameOf = (ids: readonly number[]): string => rangeName(ids[0] ?? 0, ids.at(-1) ?? 0);

/** The ids of all breaches that the answers name, by name. */
const breachIdsOf = (answers: readonly DomainAnswer[]): Promise<Map<string, number>> => {
  const names = new Set<string>();
  for (const answer of answers) {
    if (answer.state !== "checked") continue;
    for (const ofAlias of answer.breachNames.values()) for (const name of ofAlias) names.add(name);
  }
  return catalog.idsFor(names);
};

/** The ids of the breaches that an e-mail is in, as its domain's answer says. */
const breachesOf = (
  row: Email,
  breachNames: ReadonlyMap<string, string[]>,
  ids: ReadonlyMap<string, number>,
): Set<number> => {
  const alias = row.email.slice(0, row.email.lastIndexOf("@"));
  return new Set(
    (breachNames.get(alias) ?? []).map((name) => ids.get(name)).filter((id) => id !== undefined),
  );
};
