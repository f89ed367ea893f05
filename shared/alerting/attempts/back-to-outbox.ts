import type { Write } from "../../aws/table/condition.ts";
import { findings } from "../../findings/record.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { breachesPerEvent, findingsFound } from "../../outbox/outbox.ts";
import type { Delivery, Gathered } from "../deliveries/delivery.ts";
import { isTold } from "../deliveries/share.ts";
import { type FoundRow, foundIn } from "../messages/found.ts";

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
  const { isWhole, rows } = await foundIn(org, scans, (event.after ?? 0) + 1);
  const runs: FoundRow[][] = [];
  let last: number | undefined;
  for await (const some of rows()) {
    for (const row of some.filter((each) => isTold(event, each))) {
      const run = runs.at(-1);
      const isOfRun = run?.[0] && run[0].emailId === row.emailId && scanOf(run[0]) === scanOf(row);
      if (isOfRun && run.length < breachesPerEvent) run.push(row);
      else runs.push([row]);
    }
    last = some.at(-1)?.id ?? last;
    if (runs.length > rowsAtOnce) break;
  }
  const isCut = runs.length > rowsAtOnce;
  const told = runs.slice(0, rowsAtOnce);
  const details = await breachDetails.details(told.flat().map(({ breachId }) => breachId));
  const writes = told.map((run) => {
    const [first] = run;
    const sensitive = run.map(({ breachId }) => breachId).filter((id) => details.get(id)?.isSensitive);
    return findingsFound(org, {
      scanId: first === undefined ? 0 : scanOf(first),
      isFirst: false,
      findingIds: new Set(run.map(({ id }) => id)),
      ...(sensitive.length > 0 && { sensitive: new Set(sensitive) }),
      to: channelId,
    });
  });
  const after = isCut ? told.at(-1)?.at(-1)?.id : last;
  return { writes, ...((isCut || !isWhole) && after !== undefined && { after }) };
};

const scanOf = (row: FoundRow): number => findings.groupOf(row).scanId ?? 0;
