import { UpstreamFailure } from "../catalog/hibp.ts";
import { noteDomain } from "../emails/own-check.ts";
import * as domains from "../organizations/domain.ts";
import type { Invocation } from "../queue/consume.ts";
import type { Message } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import { condition, type Write } from "../table/condition.ts";
import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Answered } from "./answer.ts";
import { ask, hasTimeToAsk, noClaim } from "./ask.ts";
import { isLookup } from "./chunks.ts";
import { compareBatch, type Work } from "./compare-batch.ts";
import { end, endIfLapsed, isDone, isPlanned, reasonOf } from "./end.ts";
import { heldInTurn, maximumScanMilliseconds, renew, type ScanRecord, scans } from "./record.ts";
import { sendAgain } from "./resend.ts";
import { type Outcome, pausePlanning, type Scanned, takeTurn, whileRenewing } from "./turn.ts";

/** Domains that are planned together: their rows and the scan's go in one transaction. */
const domainsPerBatch = 90;

/**
 * What is answered is saved after so long, so that its e-mails do not wait for slow answers about other domains. Every batch
 * reads the blocks of its domains anew, so each that is cut short makes the next twice as long.
 */
const firstBatchMilliseconds = 5_000;

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
  try {
    await table.transact(
      scans.writes(org, [
        scans.change(org, scanId, {
          from,
          to: { ...from, status: "running" },
          set: { startedAt: new Date().toISOString() },
        }),
      ]),
    );
  } catch (error) {
    if (!(error instanceof table.TransactionRefused)) throw error;
  }
  return scans.get(org, scanId);
};

/** Plans batch after batch. */
const planDomains = async (scanned: Scanned): Promise<Outcome> => {
  const { org, scanId, turn, invocation } = scanned;
  let claimed = noClaim();
  let batchMilliseconds = firstBatchMilliseconds;
  for (;;) {
    if (!(await renew(org, scanId, turn))) return "over";
    const verified = (await domains.list(org)).filter((domain) => domain.verified);
    const todo = verified.filter((domain) => !isPlanned(domain, scanId));
    if (todo.length > 0 && !hasTimeToAsk(invocation)) return { delaySeconds: 0 };
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
  const running = { ...scans.facetOf(scan), status: "running" as const };
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
