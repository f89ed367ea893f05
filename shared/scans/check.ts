import * as domains from "../organizations/domain.ts";
import type { Invocation } from "../queue/consume.ts";
import type { Message } from "../queue/messages.ts";
import { condition } from "../table/condition.ts";
import * as table from "../table/table.ts";
import { apply } from "./apply.ts";
import { close } from "./chunks.ts";
import { end, isDone } from "./end.ts";
import { renew, type ScanRecord, scans } from "./record.ts";

/** Records the differences of one chunk, then takes it off what remains; the last one completes the scan. */
export const check = async (message: Message<"scan-chunks">, { logger }: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk, checkedAt, changes } = message;
  if (!(await renew(org, scanId))) return;
  const rows = await domains.list(org);
  const domainsById = new Map(rows.map((domain) => [domain.id, domain]));
  const application = { org, scanId, batch, chunk, checkedAt, domains: domainsById, logger };
  const skipped = await apply(application, changes, message.skipped);
  if (skipped === undefined) return;
  // The same chunk can be at work twice, with a newer answer the second time, which is not to be recorded after the scan is
  // counted. So first it is closed: a worker that dies in between leaves it to the next one, who finds it done.
  await close(org, scanId, batch, chunk, { skipped });
  const scan = await takeOff(org, scanId, batch, chunk, skipped);
  if (scan !== undefined && isDone(scan)) await end(org, scanId, { logger });
};

/** Takes a chunk off what remains and counts its e-mails but the skipped ones, once. The scan as it is then. */
const takeOff = async (
  org: number,
  scanId: number,
  batch: number,
  chunk: string,
  skipped: number,
): Promise<ScanRecord | undefined> => {
  const scan = await scans.get(org, scanId);
  const left = scan?.remaining[batch]?.[chunk];
  if (scan === undefined || left === undefined) return scan;
  const path = `remaining.${batch}.${chunk}`;
  try {
    return await table.update<ScanRecord>(scans.key(org, scanId), {
      // A newer answer can change more e-mails than the chunk was made for.
      add: { scannedEmails: Math.max(0, left - skipped) },
      remove: [path],
      if: condition(`attribute_exists(#remaining.#${batch}.#${chunk}) AND #facet = :running`, {
        running: scans.encode({ ...scans.facetOf(scan), status: "running" }),
      }),
    });
  } catch (error) {
    // Taken off by another, or by this very write, whose reply got lost.
    if (error instanceof table.ConditionFailed) return error.item as ScanRecord | undefined;
    throw error;
  }
};
