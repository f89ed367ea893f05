import * as queue from "../aws/queue/queue.ts";
import * as domains from "../monitoring/domains/domain.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import * as subscription from "../monitoring/hibp/subscription.ts";
import { askAboutDomain, delayAfter, waitSecondsOf } from "./ask-upstream.ts";
import { compareEmail } from "./compare-email.ts";
import { breachesOf, breachIdsOf, type DomainAnswer } from "./domain-answer.ts";
import { type ChunkLeft, chunksLeft, isLookup, rangesOfChunk } from "./email-chunks.ts";
import type { Planner, PlanProgress } from "./fencing-token.ts";
import { includedIn } from "./included-emails.ts";
import { renewLock } from "./lock.ts";
import { cursorOf } from "./look-up-cursor.ts";
import type { ScanRecord } from "./record.ts";

/** The domains of a batch, by id, and the answers about them so far. */
type Batch = {
  rpm: number;
  checkedAt: string;
  domains: ReadonlyMap<number, Domain>;
  answers: Map<number, DomainAnswer>;
  breachIds: Map<string, number>;
};

/**
 * Sends the unfinished chunks of a planned scan again, whose messages may be lost. Look-ups go on from their
 * cursor; for the other chunks HIBP is asked again.
 */
export const resendChunks = async (planner: Planner, scan: ScanRecord): Promise<PlanProgress> => {
  const { org, scanId } = planner;
  const left = chunksLeft(scan);
  for (const { batch, chunk } of left.filter((each) => isLookup(each.chunk))) {
    const cursor = await cursorOf({ org, scanId, batch, chunk });
    const message = { organizationId: org, scanId, batch, chunk, cursor };
    await queue.send("scan-lookups", message, { group: String(org) });
  }
  const checks = left.filter((each) => !isLookup(each.chunk));
  if (checks.length === 0) return "planned";

  const planned = (await domains.list(org)).filter(
    ({ plannedByScan, planState, verified }) =>
      plannedByScan === scanId && planState === "checked" && verified,
  );
  const { rpm } = await subscription.current();
  for (const number of new Set(checks.map(({ batch }) => batch))) {
    const ofBatch = new Map(
      planned.filter((domain) => domain.planBatch === number).map((domain) => [domain.id, domain]),
    );
    const checkedAt = [...ofBatch.values()][0]?.planAt ?? "";
    const batch: Batch = { rpm, checkedAt, domains: ofBatch, answers: new Map(), breachIds: new Map() };
    for (const chunk of checks.filter((each) => each.batch === number)) {
      const progress = await resendChunk(planner, batch, chunk);
      if (progress !== "planned") return progress;
    }
  }
  return "planned";
};

/** Compares the e-mails of a chunk with new answers and sends the differences. */
const resendChunk = async (
  planner: Planner,
  batch: Batch,
  { batch: number, chunk, emails: emailCount }: ChunkLeft,
): Promise<PlanProgress> => {
  const { org, scanId } = planner;
  const { checkedAt, answers, breachIds } = batch;
  const ofRanges = await Promise.all(
    rangesOfChunk(chunk).map((range) => includedIn(org, scanId, range, (id) => batch.domains.has(id))),
  );
  const rows = ofRanges.flat();
  const progress = await askAboutDomainsOf(planner, batch, rows);
  if (progress !== "planned") return progress;
  const rowAnswers = rows.map((row) => answers.get(emails.groupOf(row).domainId));
  // Without an answer the chunk stays unfinished: later sweeps try again, and the end counts it as failed.
  if (rowAnswers.some((answer) => answer?.state !== "checked")) return "planned";
  const changes = rows.flatMap((row, index) => {
    const answer = rowAnswers[index];
    if (answer?.state !== "checked") return [];
    return compareEmail(row, breachesOf(row, answer.breachNames, breachIds), { complete: true }) ?? [];
  });
  // `rows` can hold e-mails that the chunk was not made for, so at least this many of its own are missing.
  const skipped = emailCount - rows.length;
  await queue.send(
    "scan-checks",
    {
      organizationId: org,
      scanId,
      batch: number,
      chunk,
      checkedAt,
      changes,
      ...(skipped > 0 && { skipped }),
    },
    { group: String(org) },
  );
  return "planned";
};

/** Asks HIBP about the domains of these e-mails, each once for a batch. */
const askAboutDomainsOf = async (
  { org, scanId, fencingToken, invocation }: Planner,
  { rpm, domains: domainsById, answers, breachIds }: Batch,
  rows: readonly Email[],
): Promise<PlanProgress> => {
  for (const id of new Set(rows.map((row) => emails.groupOf(row).domainId))) {
    const domain = domainsById.get(id);
    if (domain === undefined || answers.has(id)) continue;
    if (!(await renewLock(org, scanId, fencingToken))) return "over";
    try {
      const answer = await askAboutDomain(domain, rpm, waitSecondsOf(invocation));
      answers.set(id, answer);
      for (const [name, breachId] of await breachIdsOf([answer])) breachIds.set(name, breachId);
    } catch (error) {
      return { delaySeconds: delayAfter(error) };
    }
  }
  return "planned";
};
