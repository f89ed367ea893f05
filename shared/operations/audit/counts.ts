/** The counts of an organization that no list keeps (lists/counts.ts) against its findings, e-mails and deliveries. */
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import { chunk } from "../../aws/table/chunk.ts";
import type { Item } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { findings } from "../../findings/record.ts";
import * as counts from "../../lists/counts.ts";
import type { Directory } from "../../lists/directory.ts";
import { emails, isBreached } from "../../monitoring/emails/record.ts";
import { compare } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** Blocks read at the same time. */
const concurrency = 4;

/** What the counts should be, by attribute. Reads everything that is counted. */
const recount = async (org: number): Promise<Map<string, number>> => {
  const sums = new Map<string, number>();
  const add = (changes: counts.Changes): void => {
    for (const [name, by] of counts.differencesOf(changes)) sums.set(name, (sums.get(name) ?? 0) + by);
  };
  const everyBlock = async (directory: Directory, read: (block: number) => Promise<void>): Promise<void> => {
    for (const some of chunk(directory, concurrency)) {
      await Promise.all(some.map(({ block }) => read(block)));
    }
  };
  await everyBlock(await findings.directory(org), async (block) => {
    const project = ["id", "group", "breachId", "firstDetectedAt"];
    const rows = await findings.members(org, block, { project });
    add({ findings: rows.map((row) => ({ ...row, to: findings.groupOf(row) })) });
  });
  await everyBlock(await emails.directory(org), async (block) => {
    const rows = await emails.members(org, block, { project: ["group", "findings"] });
    add({
      breachedEmails: rows.filter((row) => emails.groupOf(row).isActive && isBreached(row)).length,
    });
  });
  await everyBlock(await deliveries.directory(org), async (block) => {
    const rows = await deliveries.members(org, block, { project: ["id", "group", "status"] });
    for (const row of rows.filter(({ status }) => status === "not_delivered")) {
      add({ notDelivered: { ...deliveries.groupOf(row), by: 1, deliveryId: row.id } });
    }
  });
  return sums;
};

/** The sum of all rows counts, so that it does not matter which of them takes a correction. */
export const compareCounts = async (org: number): Promise<Problem[]> => {
  const subject = { kind: "counts", id: org };
  const key = keys.counts(org, counts.places[0] ?? 0);
  const row = await table.get<Item>(key);
  const before = await counts.readSums(org);
  const should = await recount(org);
  const is = await counts.readSums(org);
  if (before.get("writes") !== is.get("writes")) return [{ ...subject, topic: key.pk, says: undefined }];
  const excess = [...new Set([...is.keys(), ...should.keys()])]
    .filter((name) => name !== "writes")
    .map((name) => ({ name, by: (is.get(name) ?? 0) - (should.get(name) ?? 0) }))
    .filter(({ by }) => by !== 0)
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return compare(subject, {
    key,
    row,
    holds: Object.fromEntries(excess.map(({ name, by }) => [name, Number(row?.[name] ?? 0) - by])),
    reliesOn: ["writes"],
    says: excess
      .slice(0, maximumNamed)
      .map(({ name }) => `${name} is ${is.get(name) ?? 0}, should be ${should.get(name) ?? 0}`)
      .join("; "),
  });
};

/** Wrong counts that a report names. */
const maximumNamed = 10;
