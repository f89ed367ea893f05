/** The counts of an organization that no list keeps (lists/counts.ts) against its findings, e-mails and deliveries. */

import { type DeliveryStatus, deliveries } from "../../alerting/deliveries/delivery.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import * as counts from "../../lists/counts.ts";
import type { Directory } from "../../lists/directory.ts";
import { type Email, emails, isBreached } from "../../monitoring/emails/record.ts";
import { changedDuringRead, type Inspection, type Problem } from "./inspector.ts";

/** What the counts should be, by attribute, added up while rows are read. */
export class Recount {
  readonly sums = new Map<string, number>();

  addFindings(rows: readonly Pick<FindingRecord, "id" | "breachId" | "firstDetectedAt" | "group">[]): void {
    const found = rows.map((row) => ({ ...row, to: findings.groupOf(row) }));
    this.#add(counts.differencesOf({ findings: found }));
  }

  addEmails(rows: readonly Pick<Email, "group" | "findings">[]): void {
    const breached = rows.filter((row) => emails.groupOf(row).isActive && isBreached(row));
    this.#add(counts.differencesOf({ breachedEmails: breached.length }));
  }

  addDeliveries(rows: readonly { id: number; group: string; status: DeliveryStatus }[]): void {
    for (const { id, group, status } of rows) {
      if (status !== "not_delivered") continue;
      const { channelId } = deliveries.groupOf({ group });
      this.#add(counts.differencesOf({ notDelivered: { channelId, by: 1, deliveryId: id } }));
    }
  }

  #add(differences: ReadonlyMap<string, number>): void {
    for (const [name, by] of differences) this.sums.set(name, (this.sums.get(name) ?? 0) + by);
  }
}

/** By how much each count differs from what it should be; without those that are right. */
const excessOf = (is: ReadonlyMap<string, number>, { sums }: Recount): [name: string, by: number][] =>
  [...new Set([...is.keys(), ...sums.keys()])]
    .filter((name) => name !== "writes")
    .map((name): [string, number] => [name, (is.get(name) ?? 0) - (sums.get(name) ?? 0)])
    .filter(([, by]) => by !== 0)
    .sort(([one], [other]) => (one < other ? -1 : 1));

/** Whether the counts are those of the rows that were read on the way. They may have changed since. */
export const agreesWithCounts = async (org: number, recount: Recount): Promise<boolean> =>
  excessOf(await counts.readSums(org), recount).length === 0;

/** Blocks read at the same time. */
const concurrency = 4;

const recountAll = async (org: number): Promise<Recount> => {
  const recount = new Recount();
  const everyBlock = async (directory: Directory, read: (block: number) => Promise<void>): Promise<void> => {
    for (const part of chunk(directory, concurrency)) {
      await Promise.all(part.map(({ block }) => read(block)));
    }
  };
  await everyBlock(await findings.directory(org), async (block) => {
    const project = ["id", "group", "breachId", "firstDetectedAt"];
    recount.addFindings(await findings.members(org, block, { project }));
  });
  await everyBlock(await emails.directory(org), async (block) => {
    recount.addEmails(await emails.members(org, block, { project: ["group", "findings"] }));
  });
  await everyBlock(await deliveries.directory(org), async (block) => {
    recount.addDeliveries(await deliveries.members(org, block, { project: ["id", "group", "status"] }));
  });
  return recount;
};

/** Differences that are named; others are only counted. */
const maximumNamed = 10;

/** Attributes that one update changes: an expression may hold 4 KB. */
const attributesPerUpdate = 50;

/** Reads everything that is counted again, so that it is for counts that were seen to differ. */
export const inspectCountsOfAll =
  (org: number): Inspection<Problem> =>
  async () => {
    const before = await counts.readSums(org);
    const recount = await recountAll(org);
    const after = await counts.readSums(org);
    const excess = excessOf(after, recount);
    if (excess.length === 0) return undefined;
    if (before.get("writes") !== after.get("writes")) return changedDuringRead;
    const named = excess
      .slice(0, maximumNamed)
      .map(([name]) => `${name} is ${after.get(name) ?? 0}, should be ${recount.sums.get(name) ?? 0}`);
    const others = excess.length - named.length;
    return {
      says: `${named.join("; ")}${others > 0 ? `; ${others} others are wrong too` : ""}`,
      repair: () => correct(org, excess),
    };
  };

/** The sum of all rows counts: it does not matter which of them takes a correction. */
const correct = async (org: number, excess: readonly (readonly [string, number])[]): Promise<void> => {
  const key = keys.counts(org, counts.places[0] ?? 0);
  const row = await table.get<{ writes?: number }>(key);
  let { writes } = row ?? {};
  for (const part of chunk(excess, attributesPerUpdate)) {
    // A second correction at the same time would correct twice; a transaction whose reply gets lost is not repeated.
    await table.transact([
      {
        update: key,
        add: { ...Object.fromEntries(part.map(([name, by]) => [name, -by])), writes: 1 },
        if: asRead({ writes }),
      },
    ]);
    writes = (writes ?? 0) + 1;
  }
};
