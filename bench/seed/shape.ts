/** What every seeded organization has in common, whatever its size. */
import type { Actor } from "../../shared/access/activity/actor.ts";
import type { Item } from "../../shared/aws/table/condition.ts";
import type { Key } from "../../shared/aws/table/keys.ts";

/** A row of the table. */
export type Row = Key & Item;

/** `isFirstScan`: one scan has found all of the findings, and none is acknowledged. */
export type Size = { findings: number; addresses: number; isFirstScan?: boolean };

/** The organization's id. */
export const org = 1;

/** How long the service has watched the addresses, in days. */
export const days = 500;

/**
 * One scan a day. Not a multiple of the block size, so that a benchmark's own scans do not all begin a block.
 */
export const scanCount = 490;

/** The scans with findings: two that found 45 % of them each, and 20 newer ones that found 0.5 % each. */
export const bulkScan = 1;
export const secondScan = 200;
export const smallScans = Array.from({ length: 20 }, (_, index) => 431 + 3 * index);

export const teamCount = 4;

/** Who added the addresses and acknowledged findings. */
export const actor: Actor = { type: "user", id: 1, label: "security@seeded.example" };

/** The time (ISO 8601) of a day of the organization, counted from 0, and a second of that day. */
export type Clock = (day: number, seconds?: number) => string;

/** A clock whose last day ends at `now`, in milliseconds. */
export const clockUntil = (now: number): Clock => {
  const begin = now - days * 86_400_000;
  return (day, seconds = 0) => new Date(begin + day * 86_400_000 + seconds * 1000).toISOString();
};

/** When a scan was under way; scan n runs on day n. */
export const timeOfScan = (clock: Clock, scan: number): string => clock(scan, 60);
