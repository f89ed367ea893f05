/**
 * An organization of a given size, as rows of the table: what the service would have written had it watched
 * these addresses for 500 days. Every counter agrees with its members.
 */

import { mintApiKey, mintSession } from "../../shared/access/keys/secret.ts";
import { withVersion } from "../../shared/contract/version.ts";
import { catalogRows } from "./breaches.ts";
import { emailRows } from "./emails.ts";
import { findingRows, noFindings } from "./findings.ts";
import { activityRows, scanRows } from "./history.ts";
import { blockCount } from "./list-rows.ts";
import { domainRows, organizationRows } from "./organization.ts";
import { actor, clockUntil, org, type Row, type Size, scanCount } from "./shape.ts";

/** An organization of this many findings has as many addresses, but at most 100,000. */
export const sizeOf = (findings: number): Size => ({ findings, addresses: Math.min(findings, 100_000) });

/** The one organization of a seeded table and what to ask it for. */
export type Seeded = Size & {
  org: number;
  apiKeys: string[];
  /** The value of a user's session cookie. */
  session: string;
  activityCount: number;
  /** About how many rows there are, for progress. */
  rowCount: number;
};

const keyCount = 60;

/**
 * All rows. `isScanned` false: no scan has looked at the addresses yet, so that there are no findings. The API keys
 * are minted here, since the table holds only their hashes.
 */
export const seed = (size: Size, isScanned: boolean): { seeded: Seeded; rows: () => Generator<Row> } => {
  const { addresses } = size;
  // About half of the findings are acknowledged, each with an entry.
  const activityCount = isScanned ? Math.max(size.findings / 2, Math.min(10_000, size.findings - 100)) : 0;
  const apiKeys = Array.from({ length: keyCount }, () => mintApiKey(org));
  const session = mintSession(org, actor.id ?? 0);
  const clock = clockUntil(Date.now());
  const lastScan = isScanned ? scanCount : 0;
  const findingCount = isScanned ? size.findings : 0;
  const seeded: Seeded = {
    ...size,
    org,
    apiKeys,
    session,
    activityCount,
    // E-mails with their addresses, other members, and directories.
    rowCount: 2 * addresses + findingCount + activityCount + blockCount(addresses) + blockCount(findingCount),
  };

  const unversionedRows = function* (): Generator<Row> {
    yield* organizationRows(clock(0), { apiKeys, session });
    yield* domainRows(addresses, clock, lastScan);
    yield* catalogRows();
    // The findings come before the e-mails, which repeat their ids.
    const totals = noFindings(addresses);
    if (isScanned) yield* findingRows(size, clock, totals);
    yield* emailRows(addresses, clock, { lastScan, totals });
    if (isScanned) yield* scanRows(clock, addresses, totals.countsByScan);
    if (isScanned) yield* activityRows(activityCount, clock);
  };
  const rows = function* (): Generator<Row> {
    for (const row of unversionedRows()) yield withVersion(row);
  };
  return { seeded, rows };
};
