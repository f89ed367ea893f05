import { aliasOf } from "../contract/address.ts";
import * as catalog from "../hibp/catalog.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { type News, newsIn } from "../monitoring/unwatched/keep.ts";
import * as unwatched from "../monitoring/unwatched/store.ts";
import type { DomainAnswer } from "./ask-upstream.ts";
import { compareEmail, type EmailChange, isIncluded } from "./compare-email.ts";
import { inChunks, lookupChunk } from "./email-chunks.ts";
import type { Planner } from "./lock.ts";
import { addFailures, type Failures } from "./record.ts";
import { addStealerLogs, type Compared } from "./stealer-logs.ts";

/**
 * What is to be done for a batch. `unchanged`: e-mails that need no write; `failures`: how many e-mails are of domains
 * without an answer that is believed, by its reason; `doubted`: the ids of domains whose answer is not believed; `news`: of
 * addresses that nobody watches, by domain.
 */
export type BatchWork = {
  unchanged: number;
  failures: Failures;
  doubted: Set<number>;
  news: Map<number, News>;
  /** `changes` is empty in chunks of look-ups. */
  chunks: { chunk: string; emails: number; changes: EmailChange[] }[];
};

/** Compares the e-mails of a batch's domains with the answers, reading them after HIBP has answered. */
export const compareBatch = async (
  planner: Planner,
  answers: readonly DomainAnswer[],
): Promise<BatchWork> => {
  const { org, scanId } = planner;
  const work: BatchWork = {
    unchanged: 0,
    failures: new Map(),
    doubted: new Set(),
    news: new Map(),
    chunks: [],
  };
  if (answers.length === 0) return work;
  const byDomain = new Map(answers.map((answer) => [answer.domain.id, answer]));
  const breachIds = await breachIdsOf(answers);
  const blocks = emails.blocks(
    await emails.directory(org),
    // Disabled e-mails are watched too, as far as unwatched addresses go.
    ({ domainId, isActive }) =>
      isActive ? byDomain.has(domainId) : byDomain.get(domainId)?.state === "checked",
  );
  const tallies = new Map<number, Tally>();
  const changed: Compared[] = [];
  const watched = new Map(answers.map(({ domain }) => [domain.id, new Map<string, Email>()]));
  for await (const rows of emails.membersOf(org, blocks)) {
    const single: Email[] = [];
    for (const row of rows) {
      const group = emails.groupOf(row);
      const answer = byDomain.get(group.domainId);
      if (answer?.state === "checked") watched.get(group.domainId)?.set(row.email, row);
      if (answer === undefined || !isIncluded(row, group, scanId)) continue;
      if (answer.state === "checked") {
        const change = compareEmail(row, breachesOf(row, answer.breachNames, breachIds));
        tallies.set(group.domainId, addEmail(tallies.get(group.domainId), row, change));
        if (change !== undefined) changed.push({ domain: answer.domain, alias: aliasOf(row.email), change });
      } else if (answer.state === "single") single.push(row);
      else addFailures(work.failures, answer.reason, 1);
    }
    const chunk = lookupChunk(single[0]?.id ?? 0, single.at(-1)?.id ?? 0);
    if (single.length > 0) work.chunks.push({ chunk, emails: single.length, changes: [] });
  }
  for (const [domainId, tally] of tallies) {
    const domain = byDomain.get(domainId)?.domain;
    if (domain !== undefined && isDoubted(tally, domain)) {
      work.doubted.add(domainId);
      addFailures(work.failures, "doubted", tally.emails);
    } else work.unchanged += tally.unchanged;
  }
  const isBelieved = ({ domain }: { domain: { id: number } }): boolean => !work.doubted.has(domain.id);
  const checked = answers.filter((answer) => answer.state === "checked").filter(isBelieved);
  const roots = new Map(
    checked.length === 0 ? [] : (await unwatched.roots(org)).map((root) => [root.domainId, root]),
  );
  for (const answer of checked) {
    const { id } = answer.domain;
    const news = newsIn(answer, { watched: watched.get(id) ?? new Map(), breachIds }, roots.get(id));
    if (news !== undefined) work.news.set(id, news);
  }
  const believed = changed.filter(isBelieved);
  await addStealerLogs(planner, believed);
  for (const [number, changes] of inChunks(believed.map(({ change }) => change)).entries())
    work.chunks.push({ chunk: String(number), emails: changes.length, changes });
  return work;
};

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
  return new Set(
    (breachNames.get(aliasOf(row.email)) ?? []).map((name) => ids.get(name)).filter((id) => id !== undefined),
  );
};

/** Smaller answers are believed, because a single breach that HIBP withdraws can be most of what was known. */
const minimumKnown = 20;

/** An answer beside what was known. `known`: pairs of an e-mail and a breach before the answer; `lost`: those that it lacks. */
type Tally = { emails: number; unchanged: number; known: number; lost: number };

const addEmail = (
  tally: Tally = { emails: 0, unchanged: 0, known: 0, lost: 0 },
  { findings, gone }: Pick<Email, "findings" | "gone">,
  change: EmailChange | undefined,
): Tally => ({
  emails: tally.emails + 1,
  unchanged: tally.unchanged + (change === undefined ? 1 : 0),
  known: tally.known + Object.keys(findings).length - (gone?.size ?? 0),
  lost: tally.lost + (change?.gone.length ?? 0),
});

/**
 * Whether the answer is not believed, since people do not vanish from breaches: it lacks more than half of what was known, and no scan before found the same.
 */
const isDoubted = ({ known, lost }: Tally, { doubtedByScan }: Domain): boolean =>
  known >= minimumKnown && 2 * lost > known && doubtedByScan === undefined;
