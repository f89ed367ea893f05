/**
 * What the partitions of an on-demand table give: 1,000 write and 3,000 read units a second each. A new table
 * has four of them, so that it takes 4,000 write units a second.
 */
import { createHash } from "node:crypto";

export type Units = "read" | "write";

export const unitsPerSecond: Record<Units, number> = { read: 3_000, write: 1_000 };

/** `isSpent`: whether a key's partition has no units left at the moment. `charge`: takes units, also too many. */
export type Throughput = {
  isSpent: (partition: string, units: Units) => boolean;
  charge: (partitions: readonly string[], units: Units, amount: number) => void;
};

/** `placement`: another number places partition keys otherwise, as another table would. */
export type Partitions = { count: number; placement: number };

/** The number of the partition that holds rows with this partition key. */
export const partitionOf = (key: string, { count, placement }: Partitions): number =>
  createHash("sha1").update(`${placement} ${key}`).digest().readUInt32BE() % count;

/** `now` in milliseconds. Each partition saves up at most the units of one second. */
export const openThroughput = (
  partitions: Partitions,
  now: () => number = () => performance.now(),
): Throughput => {
  const buckets = new Map<string, { left: number; at: number }>();
  const bucketOf = (partition: string, units: Units): { left: number; at: number } => {
    const name = `${units} ${partitionOf(partition, partitions)}`;
    const bucket = buckets.get(name) ?? { left: unitsPerSecond[units], at: now() };
    const passed = (now() - bucket.at) / 1_000;
    bucket.left = Math.min(unitsPerSecond[units], bucket.left + passed * unitsPerSecond[units]);
    bucket.at = now();
    buckets.set(name, bucket);
    return bucket;
  };
  return {
    isSpent: (partition, units) => bucketOf(partition, units).left <= 0,
    // What a request consumes is only known afterwards, so that the last one may take more than was left.
    charge: (names, units, amount) => {
      for (const name of names) bucketOf(name, units).left -= amount / names.length;
    },
  };
};
