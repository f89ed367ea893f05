import type { Write } from "../../aws/table/condition.ts";
import { findings } from "../../findings/record.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { breachesPerEvent, findingsRecorded } from "../../outbox/outbox.ts";
import type { Delivery, Gathered } from "../deliveries/delivery.ts";
import { isOfDelivery } from "../deliveries/share.ts";
import { findingsOfScans, type ScanFinding } from "../messages/scan-findings.ts";

/** Rows of the outbox that one transaction writes, beside the delivery that they replace. */
const rowsAtOnce = 90;

/**
 * Rows of the outbox for one channel, in place of a delivery. Each has the findings of one address and scan.
 * `after`: the last finding that has a row, if more findings remain.
 */
export const backToOutbox = async (
  org: number,
  { scans = new Set() }: Delivery,
  event: Gathered,
  channelId: number,
): Promise<{ writes: Write[]; after?: number }> => {
  const { isWhole, rows } = await findingsOfScans(org, scans, (event.after ?? 0) + 1);
  const runs: ScanFinding[][] = [];
  let last: number | undefined;
  for await (const some of rows()) {
    for (const row of some.filter((each) => isOfDelivery(event, each))) {
      const run = runs.at(-1);
      const isOfRun = run?.[0] && run[0].emailId === row.emailId && scanOf(run[0]) === scanOf(row);
      if (isOfRun && run.length < breachesPerEvent) run.push(row);
      else runs.push([row]);
    }
    last = some.at(-1)?.id ?? last;
    if (runs.length > rowsAtOnce) break;
  }
  const isCut = runs.length > rowsAtOnce;
  const sent = runs.slice(0, rowsAtOnce);
  const details = await breachDetails.details(sent.flat().map(({ breachId }) => breachId));
  const writes = sent.map((run) => {
    const [first] = run;
    const sensitive = run.map(({ breachId }) => breachId).filter((id) => details.get(id)?.isSensitive);
    return findingsRecorded(org, {
      scanId: first === undefined ? 0 : scanOf(first),
      isFirst: false,
      findingIds: new Set(run.map(({ id }) => id)),
      ...(sensitive.length > 0 && { sensitive: new Set(sensitive) }),
      to: channelId,
    });
  });
  const after = isCut ? sent.at(-1)?.at(-1)?.id : last;
  return { writes, ...((isCut || !isWhole) && after !== undefined && { after }) };
};

const scanOf = (row: ScanFinding): number => findings.groupOf(row).scanId ?? 0;
