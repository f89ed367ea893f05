import type { Logger } from "@aws-lambda-powertools/logger";
import * as channels from "../alerts/channel.ts";
import * as delivery from "../alerts/delivery.ts";
import { type Email, emails } from "../emails/record.ts";
import { lastScannedAt } from "../emails/watermark.ts";
import { findings } from "../findings/record.ts";
import type { Domain } from "../organizations/domain.ts";
import type { EmailChange } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import { type Reserved, reserve } from "../table/blocks.ts";
import { absent, condition, exists, type Write } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { ClosedChunk } from "./chunks.ts";
import { isIncluded } from "./compare.ts";
import { renewing } from "./record.ts";

/** interface.md and decisions.md "Scans": a breach event holds at most this many breaches. */
const breachesPerEvent = 75;

/** DynamoDB's 100 writes of a transaction, less the chunk's (1) and the directory rows of findings (3) and deliveries (2). */
const writesPerTransaction = 94;

export type Application = {
  org: number;
  scanId: number;
  batch: number;
  chunk: string;
  /** When the check was taken: before its answer was asked for. */
  checkedAt: string;
  domains: ReadonlyMap<number, Domain>;
  logger: Logger;
};

/** A part of an e-mail's change that fits into one transaction. */
type Step = { emailId: number; found: number[]; gone: number[]; back: number[] };

/**
 * Records what an answer from upstream changed: finding rows, what their e-mails hold, and the deliveries of the alerts,
 * together. Repeating it does nothing: each step is made from the e-mail's row as it is now and is refused when that changed.
 * E-mails that were removed, disabled or added since the scan began are left alone, and those of a domain that is no longer
 * verified: their number. Once the chunk is closed nothing is written any more: the number is that of the worker that has done
 * it, or undefined when its scan ended without it. `skippedBefore`: of the chunk's e-mails, when its changes were made.
 */
export const apply = async (
  application: Application,
  changes: readonly EmailChange[],
  skippedBefore = 0,
): Promise<number | undefined> => {
  const { org } = application;
  const alertChannels = await channels.list(org);
  const wanted = delivery.countWanting(alertChannels, "breach");
  const found = changes.reduce((sum, change) => sum + change.found.length, 0);
  const ids = await reserve(org, "FINDING", found, { tag: application.scanId });

  const goOn = renewing(org, application.scanId);
  const skipped = new Set<number>();
  let group: { steps: Step[]; writes: number } = { steps: [], writes: 0 };
  /** The chunk as it is closed, or that the scan is over. */
  const flush = async (): Promise<ClosedChunk | undefined> => {
    const { steps } = group;
    group = { steps: [], writes: 0 };
    if (steps.length === 0) return undefined;
    if (!(await goOn())) return {};
    const reserved = ids.splice(
      0,
      steps.reduce((sum, step) => sum + step.found.length, 0),
    );
    const outcome = await write(application, alertChannels, steps, reserved, skipped);
    if (outcome !== "changed") return outcome === "written" ? undefined : outcome;
    // One by one, from the rows as they are now.
    for (const step of steps) {
      const closed = await writeAlone(application, alertChannels, step, skipped);
      if (closed !== undefined) return closed;
    }
    return undefined;
  };
  for (const change of changes) {
    for (const step of stepsOf(change)) {
      const size =
        1 + step.found.length + step.gone.length + step.back.length + (step.found.length > 0 ? wanted : 0);
      // Two steps of one e-mail cannot share a transaction.
      const again = group.steps.some((each) => each.emailId === step.emailId);
      const isFull = again || group.writes + size > writesPerTransaction;
      const closed = isFull ? await flush() : undefined;
      if (closed !== undefined) return closed.skipped;
      group.steps.push(step);
      group.writes += size;
    }
  }
  const closed = await flush();
  return closed === undefined ? skippedBefore + skipped.size : closed.skipped;
};

/** What disappeared comes first: it keeps the time of the check before this one, which the other steps overwrite. */
const stepsOf = ({ emailId, found, gone, back }: EmailChange): Step[] => {
  const steps: Step[] = [];
  const other = { found: [], gone: [], back: [] };
  for (const part of slices(gone)) steps.push({ emailId, ...other, gone: part });
  for (const part of slices(back)) steps.push({ emailId, ...other, back: part });
  for (const part of slices(found)) steps.push({ emailId, ...other, found: part });
  return steps;
};

const slices = (ids: readonly number[]): number[][] =>
  Array.from({ length: Math.ceil(ids.length / breachesPerEvent) }, (_, index) =>
    ids.slice(index * breachesPerEvent, (index + 1) * breachesPerEvent),
  );

const maximumTries = 6;

const writeAlone = async (
  application: Application,
  alertChannels: readonly channels.Channel[],
  step: Step,
  skipped: Set<number>,
): Promise<ClosedChunk | undefined> => {
  for (let count = 0; count < maximumTries; count++) {
    const ids = await reserve(application.org, "FINDING", step.found.length, { tag: application.scanId });
    const outcome = await write(application, alertChannels, [step], ids, skipped);
    if (outcome !== "changed") return outcome === "written" ? undefined : outcome;
  }
  throw new Error(`E-mail ${step.emailId} kept changing while a scan wrote to it`);
};

/** `changed`: a row did after it was read, or other ids are needed. Nothing was written then, nor when the chunk is closed. */
type Outcome = "written" | "changed" | ClosedChunk;

/** Writes steps in one transaction and sends the alerts' messages. Adds the e-mails that it leaves out to `skipped`. */
const write = async (
  application: Application,
  alertChannels: readonly channels.Channel[],
  steps: readonly Step[],
  reserved: readonly Reserved[],
  skipped: Set<number>,
): Promise<Outcome> => {
  const { org, scanId, batch, chunk, logger } = application;
  const rows = await emails.getMany(
    org,
    steps.map((step) => step.emailId),
  );
  const ids = [...reserved];
  const parts = steps.map((step, index) => {
    const row = rows[index];
    if (row !== undefined && isOpen(application, row)) return partOf(application, row, step, ids);
    skipped.add(step.emailId);
    return undefined;
  });
  const present = parts.filter((part) => part !== undefined);
  if (present.length === 0) return "written";
  const raised = await delivery.raise(
    org,
    alertChannels,
    present
      .filter((part) => part.breachIds.length > 0)
      .map(({ breachIds }) => ({ type: "breach", breachIds })),
  );
  const writes: Write[] = [
    { check: keys.closedChunk(org, scanId, batch, chunk), if: absent },
    ...emails.writes(
      org,
      present.map((part) => part.email),
    ),
    ...findings.writes(
      org,
      present.flatMap((part) => part.findings),
    ),
    ...present.flatMap((part) => part.seen),
    ...delivery.deliveries.writes(org, raised.writes),
  ];
  // 75 findings and 20 deliveries, both of which happened to begin a block: other ids do not.
  if (writes.length > table.maxTransactionWrites) return "changed";
  try {
    await table.transact(writes);
  } catch (error) {
    if (!(error instanceof table.TransactionRefused)) throw error;
    const closed = error.failed.find(({ index }) => index === 0);
    if (closed === undefined) return "changed";
    return (closed.item ?? {}) as ClosedChunk;
  }
  try {
    await queue.sendAll("deliveries", raised.messages);
  } catch (error) {
    // The rows say that they are due; the re-dispatch sends them.
    logger.warn("alerts go out late", { organizationId: org, error: error as Error });
  }
  return "written";
};

/** Whether the scan still includes an e-mail: not when its domain was unverified meanwhile, even if it is verified again. */
const isOpen = ({ scanId, domains }: Application, row: Email): boolean => {
  const facet = emails.facetOf(row);
  const domain = domains.get(facet.domainId);
  return isIncluded(row, facet, scanId) && domain?.verified === true && domain.planState !== "failed";
};

/** The writes of one step against the e-mail's row as it is; undefined when nothing is left to write. */
const partOf = (
  { org, scanId, checkedAt, domains }: Application,
  row: Email,
  step: Step,
  ids: Reserved[],
) => {
  const facet = emails.facetOf(row);
  const found = step.found.filter((breachId) => row.findings[breachId] === undefined);
  const gone = step.gone.filter((breachId) => isHeld(row, breachId) && !row.gone?.has(breachId));
  const back = step.back.filter((breachId) => isHeld(row, breachId) && row.gone?.has(breachId));
  if (found.length + gone.length + back.length === 0) return undefined;

  const reserved = found.map((breachId) => {
    const id = ids.shift();
    if (id === undefined) throw new Error("Too few ids of findings were reserved");
    return { breachId, id };
  });
  const domain = domains.get(facet.domainId);
  const lastSeenAt = domain && lastScannedAt(row, domain);
  const isCheck = found.length + back.length > 0 && checkedAt > (row.lastScannedAt ?? "");
  return {
    breachIds: found,
    email: emails.change(org, row.id, {
      from: facet,
      set: {
        ...Object.fromEntries(reserved.map(({ breachId, id }) => [`findings.${breachId}`, id.id])),
        ...(isCheck && { lastScannedAt: checkedAt }),
      },
      add: { unacknowledged: found.length, gone: new Set(gone) },
      take: { gone: new Set(back) },
      if: condition(
        `#since = :since AND #findings = :findings AND ${row.gone === undefined ? "attribute_not_exists(#gone)" : "#gone = :gone"}`,
        {
          since: row.since,
          findings: row.findings,
          ...(row.gone !== undefined && { gone: row.gone }),
        },
      ),
    }),
    findings: reserved.map(({ breachId, id }) =>
      findings.put(
        org,
        id,
        { scanId, acknowledged: false },
        {
          emailId: row.id,
          email: row.email,
          domainId: facet.domainId,
          breachId,
          firstDetectedAt: checkedAt,
        },
      ),
    ),
    seen: [
      ...gone.map(
        (breachId): Write => ({
          update: findings.key(org, row.findings[breachId] ?? 0),
          set: { lastSeenAt: lastSeenAt ?? row.createdAt },
          if: exists,
        }),
      ),
      ...back.map(
        (breachId): Write => ({
          update: findings.key(org, row.findings[breachId] ?? 0),
          remove: ["lastSeenAt"],
          if: exists,
        }),
      ),
    ],
  };
};

const isHeld = (row: Email, breachId: number): boolean => row.findings[breachId] !== undefined;
