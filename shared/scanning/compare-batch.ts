import { aliasOf } from "../contract/address.ts";
import * as catalog from "../hibp/catalog.ts";
import { type Email, type EmailGroup, emails } from "../monitoring/emails/record.ts";
import { type News, newsIn } from "../monitoring/unwatched/keep.ts";
import * as unwatched from "../monitoring/unwatched/store.ts";
import type { Checked, DomainAnswer } from "./ask-upstream.ts";
import { compareEmail, type EmailChange, isIncluded } from "./compare-email.ts";
import { inChunks, lookupChunk } from "./email-chunks.ts";
import type { Planner } from "./lock.ts";
import { addFailures, type Failures } from "./record.ts";
import { addStealerLogs, type Compared } from "./stealer-logs.ts";

/** What is to be done for a batch. */
type BatchWork = {
  /** How many e-mails need no write. */
  unchanged: number;
  /** How many e-mails are of domains without an answer that is believed, by its reason. */
  failures: Failures;
  /** The ids of domains whose answer is not believed. */
  doubted: Set<number>;
  /** Addresses that nobody watches, by domain. */
  news: Map<number, News>;
  /** `changes` is empty in chunks of look-ups. */
  chunks: Chunk[];
};

type Chunk = { chunk: string; emails: number; changes: EmailChange[] };

/** The e-mails of a domain beside its answer. `emails`: how many of them the scan includes. */
type Comparison = {
  answer: DomainAnswer;
  /** By address, disabled ones too: all that an unwatched address must not be. */
  watched: Map<string, Email>;
  emails: number;
  changed: Compared[];
  /** Pairs of an e-mail and a breach that were known before the answer, and those that the answer lacks. */
  known: number;
  lost: number;
};

/** Compares the e-mails of a batch's domains with the answers, reading them after HIBP has answered. */
export const compareBatch = async (
  planner: Planner,
  answers: readonly DomainAnswer[],
): Promise<BatchWork> => {
  const breachIds = await breachIdsOf(answers);
  const { comparisons, lookups } = await compareEmails(planner, answers, breachIds);
  const checked = comparisons.filter(isChecked);
  const doubted = checked.filter(isDoubted);
  const believed = checked.filter((each) => !isDoubted(each));
  const changed = believed.flatMap((each) => each.changed);
  await addStealerLogs(planner, changed);
  return {
    unchanged: believed.reduce((sum, each) => sum + each.emails - each.changed.length, 0),
    failures: failuresOf(comparisons, doubted),
    doubted: new Set(doubted.map(({ answer }) => answer.domain.id)),
    news: await newsOf(planner.org, believed, breachIds),
    chunks: [...lookups, ...chunksOf(changed)],
  };
};

/** Reads the e-mails of the answers' domains. `lookups`: chunks of those that are looked up one by one. */
const compareEmails = async (
  { org, scanId }: Planner,
  answers: readonly DomainAnswer[],
  breachIds: ReadonlyMap<string, number>,
): Promise<{ comparisons: Comparison[]; lookups: Chunk[] }> => {
  const comparisons = new Map(answers.map((answer) => [answer.domain.id, newComparison(answer)]));
  const lookups: Chunk[] = [];
  if (answers.length === 0) return { comparisons: [], lookups };
  const isOfInterest = ({ domainId, isActive }: EmailGroup): boolean =>
    isActive ? comparisons.has(domainId) : comparisons.get(domainId)?.answer.state === "checked";
  const blocks = emails.blocks(await emails.tally(org), isOfInterest);
  for await (const rows of emails.membersOf(org, blocks)) {
    const single: Email[] = [];
    for (const row of rows) {
      const group = emails.groupOf(row);
      const comparison = comparisons.get(group.domainId);
      comparison?.watched.set(row.email, row);
      if (comparison === undefined || !isIncluded(row, group, scanId)) continue;
      comparison.emails++;
      if (comparison.answer.state === "single") single.push(row);
      else if (comparison.answer.state === "checked") compare(row, comparison, comparison.answer, breachIds);
    }
    const chunk = lookupChunk(single[0]?.id ?? 0, single.at(-1)?.id ?? 0);
    if (single.length > 0) lookups.push({ chunk, emails: single.length, changes: [] });
  }
  return { comparisons: [...comparisons.values()], lookups };
};

const newComparison = (answer: DomainAnswer): Comparison => ({
  answer,
  watched: new Map(),
  emails: 0,
  changed: [],
  known: 0,
  lost: 0,
});

const compare = (
  row: Email,
  comparison: Comparison,
  { domain, breachNames }: Checked,
  breachIds: ReadonlyMap<string, number>,
): void => {
  const alias = aliasOf(row.email);
  const ids = (breachNames.get(alias) ?? []).map((name) => breachIds.get(name));
  const change = compareEmail(row, new Set(ids.filter((id) => id !== undefined)));
  comparison.known += Object.keys(row.findings).length - (row.gone?.size ?? 0);
  comparison.lost += change?.gone.length ?? 0;
  if (change !== undefined) comparison.changed.push({ domain, alias, change });
};

type CheckedComparison = Comparison & { answer: Checked };

const isChecked = (comparison: Comparison): comparison is CheckedComparison =>
  comparison.answer.state === "checked";

const failuresOf = (comparisons: readonly Comparison[], doubted: readonly Comparison[]): Failures => {
  const failures: Failures = new Map();
  for (const { answer, emails } of comparisons)
    if (answer.state === "failed") addFailures(failures, answer.reason, emails);
  for (const { emails } of doubted) addFailures(failures, "doubted", emails);
  return failures;
};

const newsOf = async (
  org: number,
  believed: readonly CheckedComparison[],
  breachIds: ReadonlyMap<string, number>,
): Promise<Map<number, News>> => {
  if (believed.length === 0) return new Map();
  const roots = new Map((await unwatched.roots(org)).map((root) => [root.domainId, root]));
  const news = new Map<number, News>();
  for (const { answer, watched } of believed) {
    const { id } = answer.domain;
    const ofDomain = newsIn(answer, { watched, breachIds }, roots.get(id));
    if (ofDomain !== undefined) news.set(id, ofDomain);
  }
  return news;
};

const chunksOf = (changed: readonly Compared[]): Chunk[] =>
  inChunks(changed.map(({ change }) => change)).map((changes, number) => ({
    chunk: String(number),
    emails: changes.length,
    changes,
  }));

/** The ids of all breaches that the answers name, by name. */
const breachIdsOf = (answers: readonly DomainAnswer[]): Promise<Map<string, number>> => {
  const names = new Set<string>();
  for (const answer of answers) {
    if (answer.state !== "checked") continue;
    for (const ofAlias of answer.breachNames.values()) for (const name of ofAlias) names.add(name);
  }
  return catalog.idsFor(names);
};

/** Smaller answers are believed, because a single breach that HIBP withdraws can be most of what was known. */
const minimumKnown = 20;

/**
 * Whether the answer is not believed, since people do not vanish from breaches. It lacks more than half
 * of what was known, and no scan before found the same.
 */
const isDoubted = ({ known, lost, answer }: Comparison): boolean =>
  known >= minimumKnown && 2 * lost > known && answer.domain.doubtedByScan === undefined;
