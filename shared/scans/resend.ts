import * as subscription from "../catalog/subscription.ts";
import { type Email, emails } from "../emails/record.ts";
import type { Domain } from "../organizations/domain.ts";
import * as domains from "../organizations/domain.ts";
import * as queue from "../queue/queue.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Answered, breachesOf, idsOf } from "./answer.ts";
import { askDomain, delayAfter, waitSecondsOf } from "./ask.ts";
import { type ChunkLeft, chunksLeft, isLookup, rangesOfChunk } from "./chunks.ts";
import { compare, includedIn } from "./compare.ts";
import { renew, type ScanRecord } from "./record.ts";
import type { Outcome, Scanned } from "./turn.ts";

/** What is asked again of a batch: its domains, and what is known of them by now. */
type Asked = {
  rpm: number;
  checkedAt: string;
  domains: ReadonlyMap<number, Domain>;
  answered: Map<number, Answered>;
  breachIds: Map<string, number>;
};

/** Sends what is left of a planned scan once more: of domain answers by asking again, of single look-ups by their cursor. */
export const sendAgain = async (scanned: Scanned, scan: ScanRecord): Promise<Outcome> => {
  const { org, scanId } = scanned;
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
    const asked: Asked = { rpm, checkedAt, domains: ofBatch, answered: new Map(), breachIds: new Map() };
    for (const each of compared.filter((other) => other.batch === batch)) {
      const outcome = await sendChunk(scanned, asked, each);
      if (outcome !== "planned") return outcome;
    }
  }
  return "planned";
};

/** Compares the e-mails of a chunk with answers of now, and sends what differs. */
const sendChunk = async (
  scanned: Scanned,
  asked: Asked,
  { batch, chunk, emails: count }: ChunkLeft,
): Promise<Outcome> => {
  const { org, scanId } = scanned;
  const { checkedAt, answered, breachIds } = asked;
  const parts = await Promise.all(
    rangesOfChunk(chunk).map((range) => includedIn(org, scanId, range, (id) => asked.domains.has(id))),
  );
  const rows = parts.flat();
  const outcome = await askAbout(scanned, asked, rows);
  if (outcome !== "planned") return outcome;
  const answers = rows.map((row) => answered.get(emails.facetOf(row).domainId));
  // It stays as it is while an answer is missing: the sweep comes again, and in the end counts it as failed.
  if (answers.some((answer) => answer?.state !== "checked")) return "planned";
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
  return "planned";
};

/** Asks about the domains of e-mails that were not asked about yet. */
const askAbout = async (
  { org, scanId, turn, invocation }: Scanned,
  asked: Asked,
  rows: readonly Email[],
): Promise<Outcome> => {
  const { rpm, answered, breachIds } = asked;
  for (const id of new Set(rows.map((row) => emails.facetOf(row).domainId))) {
    const domain = asked.domains.get(id);
    if (domain === undefined || answered.has(id)) continue;
    if (!(await renew(org, scanId, turn))) return "over";
    const waitSeconds = waitSecondsOf(invocation);
    try {
      const answer = await askDomain(domain, rpm, waitSeconds);
      answered.set(id, answer);
      for (const [name, breachId] of await idsOf([answer])) breachIds.set(name, breachId);
    } catch (error) {
      return { delaySeconds: delayAfter(error) };
    }
  }
  return "planned";
};
