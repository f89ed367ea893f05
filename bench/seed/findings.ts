/**
 * The findings of a seeded organization: which there are, their rows, and what Have I Been Pwned says about
 * them.
 */

import { breachPartition, keys } from "../../shared/aws/table/keys.ts";
import * as counts from "../../shared/counts/counts.ts";
import * as news from "../../shared/counts/news.ts";
import type * as breachDates from "../../shared/findings/breach-dates.ts";
import { type FindingRow, findings } from "../../shared/findings/record.ts";
import { severities } from "../../shared/hibp/severity-schema.ts";
import { blockOf } from "../../shared/lists/blocks.ts";
import { addressOf, domainIndexOf, isActive } from "./addresses.ts";
import { breachCount, breachName, levelOfBreach, oldBreaches } from "./breaches.ts";
import { buildList } from "./list-rows.ts";
import {
  actor,
  bulkScan,
  type Clock,
  org,
  type Row,
  type Size,
  secondScan,
  smallScans,
  timeOfScan,
} from "./shape.ts";

/** `address`: its index; `breach` and `scan`: their ids. */
type Found = { address: number; breach: number; scan: number };

/**
 * Every finding, oldest first. The findings of one scan follow the order of the addresses, as the service
 * writes them.
 */
const allFound = function* ({ findings: total, addresses, isFirstScan }: Size): Generator<Found> {
  const held = new Uint8Array(addresses);
  const small = isFirstScan ? 0 : Math.floor(total / 10 / smallScans.length);
  const second = isFirstScan ? 0 : Math.floor(total * 0.45);
  const bulk = total - second - small * smallScans.length;
  for (const [scan, count] of [
    [bulkScan, bulk],
    [secondScan, second],
  ] as const) {
    for (let index = 0; index < count; index++) {
      const address = Math.floor((index * addresses) / count);
      const before = held[address] ?? 0;
      held[address] = before + 1;
      yield { address, breach: 1 + ((address * 7 + before) % oldBreaches), scan };
    }
  }
  for (const [position, scan] of smallScans.entries()) {
    for (let index = 0; index < small; index++) {
      const address = (Math.floor((index * addresses) / small) + position) % addresses;
      yield { address, breach: oldBreaches + 1 + position, scan };
    }
  }
};

/**
 * Whether the finding at this position of its scan is acknowledged. Unacknowledged findings of the bulk scan
 * are 0.2 % of all findings, acknowledged ones of the second scan 1 %. The newer scans make up half of all.
 */
const isAcknowledged = (scan: number, position: number): boolean => {
  if (scan === bulkScan) return position % 225 !== 100;
  if (scan === secondScan) return position % 45 === 20;
  return position % 50 < 21;
};

/**
 * Address to the names of its breaches, as Have I Been Pwned knows them: a scan of the seeded table finds
 * nothing new.
 */
export const accountsOf = (size: Size): Record<string, string[]> => {
  const accounts: Record<string, string[]> = {};
  for (const { address, breach } of allFound(size)) {
    const name = addressOf(address);
    accounts[name] ??= [];
    accounts[name].push(breachName(breach));
  }
  return accounts;
};

/** What other rows repeat of the findings; those before the counts are by the index of the address. */
export type FindingTotals = {
  /** The id of each finding by the id of its breach. */
  findingIds: Record<string, number>[];
  /** How many are open, by level of severity, with level 1 at 0. */
  openByLevel: Uint16Array[];
  /** The scan that found something last, or 0. */
  lastScans: Uint16Array;
  countsByScan: Map<number, number>;
  /** What shared/counts counts, by row and attribute. */
  counts: Map<number, Map<string, number>>;
};

export const noFindings = (addresses: number): FindingTotals => ({
  findingIds: Array.from({ length: addresses }, () => ({})),
  openByLevel: severities.map(() => new Uint16Array(addresses)),
  lastScans: new Uint16Array(addresses),
  countsByScan: new Map(),
  counts: new Map(),
});

/** All rows of the list of findings; adds them up in `totals`. */
export const findingRows = function* (size: Size, clock: Clock, totals: FindingTotals): Generator<Row> {
  const { findingIds, openByLevel, lastScans, countsByScan } = totals;
  const list = buildList("FINDING");
  /** Rows of the news, by sort key. */
  const fresh = new Map<string, Row>();
  const dates: Record<number, breachDates.Dates> = {};
  const levels = Array.from({ length: breachCount + 1 }, (_, id) => levelOfBreach(id));
  const count = (id: number, change: Omit<counts.CountedChange, "id">): void => {
    const place = counts.placeOf(blockOf(id));
    const ofPlace = totals.counts.get(place) ?? new Map<string, number>();
    totals.counts.set(place, ofPlace);
    for (const [name, by] of counts.differencesOf({ findings: [{ id, ...change }] })) {
      ofPlace.set(name, (ofPlace.get(name) ?? 0) + by);
    }
  };
  for (const { address, breach, scan } of allFound(size)) {
    const position = countsByScan.get(scan) ?? 0;
    countsByScan.set(scan, position + 1);
    const acknowledged = !size.isFirstScan && isAcknowledged(scan, position);
    const reserved = list.reserve(clock(scan, 120));
    const finding: FindingRow = {
      emailId: address + 1,
      email: addressOf(address),
      breachId: breach,
      breachPartition: breachPartition(org, breach),
      firstDetectedAt: timeOfScan(clock, scan),
      ...(acknowledged && {
        acknowledgment: {
          at: clock(scan, 7200),
          by: actor,
          resolution: "handled",
          reason: "Password changed",
        },
      }),
    };
    const group = {
      scanId: scan,
      acknowledged,
      domainId: domainIndexOf(address) + 1,
      severity: levels[breach] as number,
      isHistory: scan === 1,
      told: false,
      endedBy: 0,
    };
    count(reserved.id, { breachId: breach, firstDetectedAt: finding.firstDetectedAt, to: group });
    yield list.memberRow(findings.put(org, reserved, group, finding));
    const ids = findingIds[address];
    if (ids !== undefined) ids[breach] = reserved.id;
    const ofLevel = openByLevel[group.severity - 1];
    if (!acknowledged && ofLevel !== undefined) ofLevel[address] = (ofLevel[address] ?? 0) + 1;
    lastScans[address] = scan;
    const at = finding.firstDetectedAt;
    const key = keys.news(org, at.slice(0, 10), counts.placeOf(blockOf(reserved.id)));
    const ofDay: Row = fresh.get(key.sk) ?? { ...key, ...news.expiryOf(at.slice(0, 10)) };
    const change = { breachId: breach, firstDetectedAt: at, to: group };
    const people = group.isHistory ? [] : [at];
    for (const added of news.differencesOf({ findings: [change], people }).values()) {
      for (const [name, by] of Object.entries(added)) ofDay[name] = Number(ofDay[name] ?? 0) + by;
      fresh.set(key.sk, ofDay);
    }
    const { [breach]: known } = dates;
    const time = Date.parse(at);
    dates[breach] = {
      first: Math.min(known?.first ?? time, time),
      last: Math.max(known?.last ?? time, time),
    };
  }
  const firstDay = news.firstDay(new Date());
  for (const row of fresh.values()) if (row.sk >= firstDay) yield row;
  for (const [breach, some] of Object.entries(dates)) {
    yield { ...keys.breachDates(org, Number(breach)), ...some };
  }
  yield* list.remainingRows();
  const breached = findingIds.filter((ids, address) => isActive(address) && Object.keys(ids).length > 0);
  const [ofFirst] = totals.counts.values();
  ofFirst?.set("breached", breached.length);
  yield* countRows(totals.counts);
};

/** Each row of counts has what findings of its blocks added, as scans write it. */
const countRows = function* (sums: ReadonlyMap<number, ReadonlyMap<string, number>>): Generator<Row> {
  for (const [place, counted] of sums) {
    yield { ...keys.counts(org, String(place)), ...Object.fromEntries(counted), writes: 1 };
  }
};
