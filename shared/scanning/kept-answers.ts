/** Answers of HIBP that are kept until their batch is saved, so that another planner of the scan need not ask again. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { expiryAfter } from "./email-chunks.ts";
import { maximumScanMilliseconds } from "./lock.ts";

/** An alias (the part of an address before the @) → the names of its breaches. */
export type BreachNames = Map<string, string[]>;

/** About 2,000 aliases, which take about 20 write units. An organization has few domains with more: HIBP is asked again. */
const maximumCharacters = 100_000;

/** `planAt`: when the domain was claimed; the answer is good only for this claim. `packed`: compressed JSON. */
type AnswerRow = { planAt: string; packed: Uint8Array };

/** Keeps the answer about a domain as it was claimed. */
export const keepAnswer = async (
  org: number,
  scanId: number,
  { id, planAt = "" }: Domain,
  breachNames: BreachNames,
): Promise<void> => {
  const text = JSON.stringify([...breachNames]);
  if (text.length > maximumCharacters) return;
  const row: AnswerRow = { planAt, packed: deflateRawSync(text) };
  await table.put({ ...keys.answer(org, scanId, id), ...row, ...expiryAfter(maximumScanMilliseconds) });
};

/** The kept answers about those of the domains that this scan has claimed and not planned; by the domain's id. */
export const keptAnswers = async (
  org: number,
  scanId: number,
  domains: readonly Domain[],
): Promise<Map<number, BreachNames>> => {
  const claimed = domains.filter(
    ({ plannedByScan, planState }) => plannedByScan === scanId && planState === "fetching",
  );
  const rows = await table.getMany<AnswerRow>(claimed.map(({ id }) => keys.answer(org, scanId, id)));
  return new Map(
    claimed.flatMap(({ id, planAt }, index) => {
      const row = rows[index];
      if (row === undefined || row.planAt !== planAt) return [];
      return [[id, new Map(JSON.parse(inflateRawSync(row.packed).toString()))]];
    }),
  );
};
