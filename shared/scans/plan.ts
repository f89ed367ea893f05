import * as catalog from "../catalog/catalog.ts";
import { breachedDomain, UpstreamFailure } from "../catalog/hibp.ts";
import * as subscription from "../catalog/subscription.ts";
import { withUpstream } from "../catalog/upstream.ts";
import { noteDomain } from "../emails/own-check.ts";
import { type Email, emails } from "../emails/record.ts";
import { rangeName } from "../emails/watermark.ts";
import type { Domain } from "../organizations/domain.ts";
import * as domains from "../organizations/domain.ts";
import type { Invocation } from "../queue/consume.ts";
import type { EmailChange, Message } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import { condition, type Write } from "../table/condition.ts";
import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { chunkName, chunksLeft, inChunks, isLookup, lookupChunk, rangesOfChunk } from "./chunks.ts";
import { compare, includedIn, isIncluded } from "./compare.ts";
import { end, endIfLapsed, isDone, isPlanned, reasonOf } from "./complete.ts";
import {
  heldInTurn,
  maximumScanMilliseconds,
  pausePlanning,
  renew,
  type ScanRecord,
  scans,
  takeTurn,
  whileRenewing,
} from "./record.ts";

/** Domains that are planned together: their rows and the scan's go in one transaction. */
const domainsPerBatch = 90;

/** Answers held in memory at a time, in breached aliases. */
const aliasesPerBatch = 300_000;

/** Blocks of e-mails read at a time. */
const width = 8;

/** What a plan needs after its last question upstream, to compare and save. */
const reserveSeconds = 90;

/** The longest a single call upstream can take after its turn has come. */
const callSeconds = 60;

/** The longest delay of a message. */
const maximumDelaySeconds = 900;

/**
 * What is answered is saved after so long, so that its e-mails do not wait for slow answers about other domains. Every batch
 * reads the blocks of its domains anew, so each that is cut short makes the next twice as long.
 */
const firstBatchMilliseconds = 5_000;

/** `turn`: of this planner; nothing is saved when another one took the next (record.ts). */
type Scanned = { org: number; scanId: number; turn: number; invocation: Invocation };

/** How far a planner came: to the end; it has to go on after a delay; or another one does, or nobody has to. */
type Outcome = "planned" | { delaySeconds: number } | "over";

/** A domain of a batch, and what is known of it: who is in which breaches; to be looked up one by one; or nothing. */
type Answered = { domain: Domain } & (
  | { state: "checked"; names: Map<string, string[]> }
  | { state: "single" | "failed" }
);

/**
 * Plans a scan: asks upstream about each verified domain, compares the answers with what the e-mails hold, and sends the
 * differences to `check-emails`; e-mails of domains that the subscription does not cover go to `look-up-emails`. Domains are
 * planned in batches, each saved before anything of it is sent, so it can be cut off anywhere and goes on from there.
 */
export const plan = async (message: Message<"scan-plans">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId, resume = false } = message;
  const { logger } = invocation;
  if (!(await takeTurn(org, scanId, message.turn))) return;
  const turn = message.turn + 1;
  const scanned = { org, scanId, turn, invocation };
  const scan = await begin(org, scanId);
  if (scan === undefined) return;
  if (await endIfLapsed(org, scanId, logger)) return;
  try {
    const outcome = await whileRenewing(org, scanId, turn, async (): Promise<Outcome> => {
      if (!scan.planned) return planDomains(scanned);
      return resume ? sendAgain(scanned, scan) : "planned";
    });
    if (outcome === "over") return;
    if (outcome !== "planned") {
      const { delaySeconds } = outcome;
      const next = { organizationId: org, scanId, turn, resume };
      await queue.send("scan-plans", next, { delaySeconds });
      await pausePlanning(org, scan, turn, delaySeconds);
      return;
    }
    const planned = await scans.get(org, scanId);
    if (planned !== undefined && isDone(planned)) await end(org, scanId, { logger });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await end(org, scanId, { reason: reasonOf(error), logger });
  }
};

/** Takes the scan from pending to running; undefined when it is over. */
const begin = async (org: number, scanId: number): Promise<ScanRecord | undefined> => {
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return undefined;
  const from = scans.facetOf(scan);
  if (from.status === "running") return scan;
  if (from.status !== "pending") return undefined;
  const head = await table.get<{ block: number }>(keys.listHead(org, "FINDING"));
  try {
    await table.transact(
      scans.writes(org, [
        scans.change(org, scanId, {
          from,
          to: { ...from, status: "running" },
          set: { startedAt: new Date().toISOString(), findingsFromBlock: head?.block ?? 0 },
        }),
      ]),
    );
  } catch (error) {
    if (!(error instanceof table.TransactionRefused)) throw error;
  }
  return scans.get(org, scanId);
};

/** Domains that are claimed together, and when: their one check's time. Some may be answered later than others. */
type Claim = { planAt: string; ids: Set<number> };

const noClaim = (): Claim => ({ planAt: new Date().toISOString(), ids: new Set() });

/** Plans batch after batch. */
const planDomains = async (scanned: Scanned): Promise<Outcome> => {
  const { org, scanId, turn, invocation } = scanned;
  let claimed = noClaim();
  let batchMilliseconds = firstBatchMilliseconds;
  for (;;) {
    if (!(await renew(org, scanId, turn))) return "over";
    const verified = (await domains.list(org)).filter((domain) => domain.verified);
    const todo = verified.filter((domain) => !isPlanned(domain, scanId));
    if (todo.length > 0 && invocation.remainingSeconds() < reserveSeconds + callSeconds)
      return { delaySeconds: 0 };
    const open = todo.filter(({ id }) => claimed.ids.has(id));
    const batch = open.length > 0 ? open : todo.slice(0, domainsPerBatch);
    const asked = await ask(scanned, batch, claimed, batchMilliseconds);
    const { answered, delaySeconds } = asked;
    if (answered.length < batch.length) batchMilliseconds *= 2;
    claimed = asked.claimed;
    if (answered.length > 0 || todo.length === 0) {
      const last = answered.length === todo.length;
      const saved = await compareAndSave(scanned, claimed.planAt, answered, { last });
      if (saved && last) return "planned";
      // A planner whose turn is over may have claimed them after this one: they are claimed once more, or asked for ever.
      if (!saved) claimed = noClaim();
    }
    if (delaySeconds !== undefined) return { delaySeconds };
    // Each of them changed after it was read.
    if (answered.length === 0 && todo.length > 0) return { delaySeconds: 5 };
  }
};

/** Asks upstream about domains, as far as time, rate and memory allow. */
const ask = async (
  { org, scanId, invocation }: Scanned,
  todo: readonly Domain[],
  before: Claim,
  batchMilliseconds: number,
): Promise<{ claimed: Claim; answered: Answered[]; delaySeconds?: number }> => {
  const answered: Answered[] = [];
  const begunAt = Date.now();
  let claimed = before;
  if (todo.length === 0) return { claimed, answered };
  const waitSeconds = () => Math.max(0, invocation.remainingSeconds() - reserveSeconds - callSeconds);
  let aliases = 0;
  try {
    const { rpm } = await subscription.current({ waitSeconds: waitSeconds() });
    const covered = await subscription.covered(
      todo.map((domain) => domain.name),
      { waitSeconds: waitSeconds() },
    );
    // From here on, e-mails that are added or enabled are not of this scan. Then ask; then read the e-mails.
    if (!todo.every(({ id }) => claimed.ids.has(id))) claimed = await claimAll(org, scanId, todo);
    const mine = todo.filter(({ id }) => claimed.ids.has(id));
    for (const domain of mine) if (!covered.has(domain.name)) answered.push({ domain, state: "single" });
    for (const domain of mine.filter(({ name }) => covered.has(name))) {
      const answer = await askDomain(domain, rpm, waitSeconds());
      answered.push(answer);
      if (answer.state === "checked") aliases += answer.names.size;
      if (aliases > aliasesPerBatch || invocation.remainingSeconds() < reserveSeconds + callSeconds) break;
      if (Date.now() - begunAt > batchMilliseconds) break;
    }
    return { claimed, answered };
  } catch (error) {
    return { claimed, answered, delaySeconds: delayAfter(error) };
  }
};

/** After how long to ask again when it was too often; throws what else went wrong. */
const delayAfter = (error: unknown): number => {
  if (!(error instanceof UpstreamFailure) || error.kind !== "rate_limited") throw error;
  return Math.min(maximumDelaySeconds, Math.ceil(error.retryAfterSeconds) + 1);
};

/** A domain that the subscription does not cover after all is looked up one by one. */
const askDomain = async (domain: Domain, rpm: number, waitSeconds: number): Promise<Answered> => {
  try {
    const names = await withUpstream(rpm, () => breachedDomain(domain.name), { waitSeconds });
    return { domain, state: "checked", names };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.kind === "forbidden") return { domain, state: "single" };
    if (error.kind === "bad_request" || error.kind === "unavailable") return { domain, state: "failed" };
    throw error;
  }
};

const claimAll = async (org: number, scanId: number, todo: readonly Domain[]): Promise<Claim> => {
  const planAt = new Date().toISOString();
  const claimed = await Promise.all(todo.map((domain) => claim(org, scanId, domain, planAt)));
  return { planAt, ids: new Set(todo.filter((_, index) => claimed[index]).map(({ id }) => id)) };
};

const claim = async (org: number, scanId: number, domain: Domain, planAt: string): Promise<boolean> => {
  try {
    await table.update(keys.domain(org, domain.id), {
      set: { planBy: scanId, planAt, planState: "fetching" },
      remove: ["planBatch"],
      if: condition(
        "#verified = :verified AND (#planBy < :scan OR (#planBy = :scan AND #planState = :fetching))",
        { verified: true, scan: scanId, fetching: "fetching" },
      ),
    });
    return true;
  } catch (error) {
    if (error instanceof table.ConditionFailed) return false;
    throw error;
  }
};

/** What a batch comes to. */
type Work = {
  unchanged: number;
  failed: number;
  chunks: { chunk: string; emails: number; changes: EmailChange[] }[];
};

/**
 * Compares a batch's answers with the e-mails, saves what is to be done, then sends it. False when nothing was saved: another
 * planner took over, or a domain is no longer verified.
 */
const compareAndSave = async (
  scanned: Scanned,
  planAt: string,
  answered: readonly Answered[],
  { last }: { last: boolean },
): Promise<boolean> => {
  const { org, scanId, turn } = scanned;
  const batch = answered[0]?.domain.id ?? 0;
  const work = await compareBatch(scanned, answered);
  const lookups = work.chunks.filter(({ chunk }) => isLookup(chunk));
  for (const { chunk } of lookups) await prepareLookup(org, scanId, batch, chunk);
  const single = answered.filter(({ state }) => state === "single");
  await Promise.all(single.map(({ domain }) => noteDomain(org, domain.id)));

  const scan = await scans.get(org, scanId);
  if (scan === undefined) return false;
  const running = { ...scans.facetOf(scan), status: "running" };
  const remaining = Object.fromEntries(work.chunks.map(({ chunk, emails }) => [chunk, emails]));
  try {
    await table.transact([
      { check: keys.scanLock(org), if: heldInTurn(scanId, turn) },
      ...scans.writes(org, [
        scans.change(org, scanId, {
          from: running,
          add: { scannedEmails: work.unchanged, failedEmails: work.failed },
          set: {
            ...(answered.length > 0 && { [`remaining.${batch}`]: remaining }),
            ...(last && { planned: true }),
          },
          if: condition(`attribute_not_exists(#remaining.#${batch})`),
        }),
      ]),
      ...answered.map(
        ({ domain, state }): Write => ({
          update: keys.domain(org, domain.id),
          set: { planState: state, planBatch: batch },
          if: condition(
            "#verified = :verified AND #planBy = :scan AND #planState = :fetching AND #planAt = :planAt",
            { verified: true, scan: scanId, fetching: "fetching", planAt },
          ),
        }),
      ),
    ]);
  } catch (error) {
    if (error instanceof table.TransactionRefused) return false;
    throw error;
  }
  await send(scanned, planAt, batch, work);
  return true;
};

/** Reads the e-mails of a batch's domains, after its answers, and finds what differs. */
const compareBatch = async ({ org, scanId }: Scanned, answered: readonly Answered[]): Promise<Work> => {
  const work: Work = { unchanged: 0, failed: 0, chunks: [] };
  const byDomain = new Map(answered.map((each) => [each.domain.id, each]));
  const breachIds = await idsOf(answered);
  const blocks = emails.blocks(
    await emails.directory(org),
    (facet) => facet.isActive && byDomain.has(facet.domainId),
  );
  const changed: EmailChange[][] = [];
  for (let start = 0; start < blocks.length; start += width) {
    const read = await Promise.all(
      blocks.slice(start, start + width).map((block) => emails.members(org, block)),
    );
    for (const rows of read) {
      const changes: EmailChange[] = [];
      const single: Email[] = [];
      for (const row of rows) {
        const facet = emails.facetOf(row);
        const answer = byDomain.get(facet.domainId);
        if (answer === undefined || !isIncluded(row, facet, scanId)) continue;
        if (answer.state === "checked") {
          const change = compare(row, breachesOf(row, answer.names, breachIds), { complete: true });
          if (change === undefined) work.unchanged++;
          else changes.push(change);
        } else if (answer.state === "single") single.push(row);
        else work.failed++;
      }
      if (changes.length > 0) changed.push(changes);
      if (single.length > 0) {
        work.chunks.push({
          chunk: lookupChunk(rangeOf(single.map((row) => row.id))),
          emails: single.length,
          changes: [],
        });
      }
    }
  }
  for (const parts of inChunks(changed)) {
    const changes = parts.flat();
    const ranges = parts.map((part) => rangeOf(part.map((change) => change.emailId)));
    work.chunks.push({ chunk: chunkName(ranges), emails: changes.length, changes });
  }
  return work;
};

const rangeOf = (ids: readonly number[]): string => rangeName(ids[0] ?? 0, ids.at(-1) ?? 0);

const idsOf = (answered: readonly Answered[]): Promise<Map<string, number>> => {
  const names = new Set<string>();
  for (const each of answered) {
    if (each.state !== "checked") continue;
    for (const aliasNames of each.names.values()) for (const name of aliasNames) names.add(name);
  }
  return catalog.idsFor(names);
};

const breachesOf = (
  row: Email,
  names: ReadonlyMap<string, string[]>,
  ids: ReadonlyMap<string, number>,
): Set<number> => {
  const alias = row.email.slice(0, row.email.lastIndexOf("@"));
  return new Set((names.get(alias) ?? []).map((name) => ids.get(name)).filter((id) => id !== undefined));
};

const prepareLookup = async (org: number, scanId: number, batch: number, chunk: string): Promise<void> => {
  // It goes when it is done; when the scan ends before that, nobody needs it.
  const expiry = { [timeToLive]: Math.floor((Date.now() + 2 * maximumScanMilliseconds) / 1000) };
  await table.update(keys.lookup(org, scanId, batch, chunk), { set: expiry, setOnce: { cursor: 0 } });
};

const send = async (
  { org, scanId }: Scanned,
  checkedAt: string,
  batch: number,
  work: Work,
): Promise<void> => {
  const name = { organizationId: org, scanId, batch };
  await queue.sendAll(
    "scan-chunks",
    work.chunks
      .filter(({ chunk }) => !isLookup(chunk))
      .map(({ chunk, changes }) => ({
        message: { ...name, chunk, checkedAt, changes },
        group: String(org),
      })),
  );
  await queue.sendAll(
    "scan-lookups",
    work.chunks
      .filter(({ chunk }) => isLookup(chunk))
      .map(({ chunk }) => ({ message: { ...name, chunk, cursor: 0 }, group: String(org) })),
  );
};

/** Sends what is left of a planned scan once more: of domain answers by asking again, of single look-ups by their cursor. */
const sendAgain = async (scanned: Scanned, scan: ScanRecord): Promise<Outcome> => {
  const { org, scanId, turn, invocation } = scanned;
  const left = chunksLeft(scan);
  for (const { batch, chunk } of left.filter((each) => isLookup(each.chunk))) {
    const row = await table.get<{ cursor: number }>(keys.lookup(org, scanId, batch, chunk));
    const message = { organizationId: org, scanId, batch, chunk, cursor: row?.cursor ?? 0 };
    await queue.send("scan-lookups", message, { group: String(org) });
  }
  const compared = left.filter((each) => !isLookup(each.chunk));
  if (compared.length === 0) return "planned";

  const planned = (await domains.list(org)).filter(
    ({ planBy, planState, verified }) => planBy === scanId && planState === "checked" && verified,
  );
  const { rpm } = await subscription.current();
  for (const batch of new Set(compared.map((each) => each.batch))) {
    const ofBatch = new Map(
      planned.filter((domain) => domain.planBatch === batch).map((domain) => [domain.id, domain]),
    );
    const checkedAt = [...ofBatch.values()][0]?.planAt ?? "";
    const answered = new Map<number, Answered>();
    const breachIds = new Map<string, number>();
    for (const { chunk, emails: count } of compared.filter((each) => each.batch === batch)) {
      const parts = await Promise.all(
        rangesOfChunk(chunk).map((range) => includedIn(org, scanId, range, (id) => ofBatch.has(id))),
      );
      const rows = parts.flat();
      for (const id of new Set(rows.map((row) => emails.facetOf(row).domainId))) {
        const domain = ofBatch.get(id);
        if (domain === undefined || answered.has(id)) continue;
        if (!(await renew(org, scanId, turn))) return "over";
        const waitSeconds = Math.max(0, invocation.remainingSeconds() - reserveSeconds - callSeconds);
        try {
          const answer = await askDomain(domain, rpm, waitSeconds);
          answered.set(id, answer);
          for (const [name, breachId] of await idsOf([answer])) breachIds.set(name, breachId);
        } catch (error) {
          return { delaySeconds: delayAfter(error) };
        }
      }
      const answers = rows.map((row) => answered.get(emails.facetOf(row).domainId));
      // It stays as it is while an answer is missing: the sweep comes again, and in the end counts it as failed.
      if (answers.some((answer) => answer?.state !== "checked")) continue;
      const changes = rows.flatMap((row, index) => {
        const answer = answers[index];
        if (answer?.state !== "checked") return [];
        return compare(row, breachesOf(row, answer.names, breachIds), { complete: true }) ?? [];
      });
      // The rows include unchanged ones between those of the chunk: at least so many of the chunk's are not among them.
      const skipped = count - rows.length;
      await queue.send(
        "scan-chunks",
        {
          organizationId: org,
          scanId,
          batch,
          chunk,
          checkedAt,
          changes,
          ...(skipped > 0 && { skipped }),
        },
        { group: String(org) },
      );
    }
  }
  return "planned";
};
