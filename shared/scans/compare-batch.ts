import { type Email, emails } from "../emails/record.ts";
import { rangeName } from "../emails/watermark.ts";
import type { EmailChange } from "../queue/messages.ts";
import { parts } from "../table/parts.ts";
import { type Answered, breachesOf, idsOf } from "./answer.ts";
import { chunkName, inChunks, lookupChunk } from "./chunks.ts";
import { compare, isIncluded } from "./compare.ts";
import type { Scanned } from "./turn.ts";

/** Blocks of e-mails read at a time. */
const width = 8;

/** What a batch comes to. */
export type Work = {
  unchanged: number;
  failed: number;
  chunks: { chunk: string; emails: number; changes: EmailChange[] }[];
};

/** Reads the e-mails of a batch's domains, after its answers, and finds what differs. */
export const compareBatch = async (
  { org, scanId }: Scanned,
  answered: readonly Answered[],
): Promise<Work> => {
  const work: Work = { unchanged: 0, failed: 0, chunks: [] };
  const byDomain = new Map(answered.map((each) => [each.domain.id, each]));
  const breachIds = await idsOf(answered);
  const blocks = emails.blocks(
    await emails.directory(org),
    (facet) => facet.isActive && byDomain.has(facet.domainId),
  );
  const changed: EmailChange[][] = [];
  for (const part of parts(blocks, width)) {
    const read = await Promise.all(part.map((block) => emails.members(org, block)));
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
          chunk: lookupChunk(rangeNameOf(single.map((row) => row.id))),
          emails: single.length,
          changes: [],
        });
      }
    }
  }
  for (const parts of inChunks(changed)) {
    const changes = parts.flat();
    const ranges = parts.map((part) => rangeNameOf(part.map((change) => change.emailId)));
    work.chunks.push({ chunk: chunkName(ranges), emails: changes.length, changes });
  }
  return work;
};

const rangeNameOf = (ids: readonly number[]): string => rangeName(ids[0] ?? 0, ids.at(-1) ?? 0);
