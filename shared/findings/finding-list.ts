/** The list of findings that people look at. */

import { countByBreach } from "../monitoring/unwatched/store.ts";
import type { FoundBreach, Triage } from "./breach-schema.ts";
import * as breachTriage from "./breach-triage.ts";
import * as breaches from "./breaches.ts";
import * as detailed from "./detailed.ts";
import type { DetailedFinding } from "./finding-schema.ts";
import { type FindingQuery, page } from "./page.ts";

type FindingList = {
  findings: DetailedFinding[];
  total: number;
  unacknowledged: number;
  acknowledged?: number;
  handled?: number;
  unwatched?: number;
  breach?: FoundBreach;
  triage?: Triage;
};

/**
 * A page of findings. That of a breach says who has it in hand, and an empty one what the list has
 * instead. So the dashboard need not ask again.
 */
export const list = async (org: number, query: FindingQuery): Promise<FindingList> => {
  const { acknowledged, breachId } = query;
  const [{ breaches: findings, ...counts }, unwatched, triage] = await Promise.all([
    detailed.list(org, query),
    breachId === undefined ? undefined : countByBreach(org, { consistent: false }),
    breachId === undefined ? undefined : breachTriage.get(org, breachId),
  ]);
  const ofBreach = unwatched && { unwatched: unwatched.get(breachId ?? 0) ?? 0 };
  const ofAll = { findings, ...counts, ...ofBreach, ...(triage && { triage }) };
  if (findings.length > 0) return ofAll;
  const [handled, breach] = await Promise.all([
    acknowledged === false && counts.total === 0
      ? page(org, { ...query, acknowledged: true, limit: 1, offset: 0 })
      : undefined,
    breachId === undefined ? undefined : breaches.find(org, breachId),
  ]);
  return {
    ...ofAll,
    ...(handled !== undefined && handled.total > 0 && { handled: handled.total }),
    ...(breach !== undefined && { breach }),
  };
};
