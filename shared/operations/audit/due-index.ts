import { deliveries } from "../../alerting/deliveries/delivery.ts";
import { allOf, asRead, exists } from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** The attributes that put a row into the due index. */
export type DueEntry = { dueShard?: string; dueAt?: string };

/**
 * Whether a row is in the given shard of the due index, with a time. If `shard` is undefined: whether the row
 * is not in the index.
 */
export const isDueRight = (row: DueEntry, shard: string | undefined): boolean =>
  row.dueShard === shard && (row.dueAt === undefined) === (shard === undefined);

/** A row of work that is deleted when the work is done must be in the due index. */
export const inspectDue =
  (kind: DueKind, id: number, key: Key): Inspection<Problem> =>
  async () => {
    const row = await table.get<DueEntry>(key);
    if (row === undefined) return undefined;
    return problemOf(row, key, dueShard(kind, id), {});
  };

/** A delivery must be in the due index exactly while it is open. */
export const inspectDeliveryDue =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await deliveries.get(org, id);
    if (row === undefined) return undefined;
    return problemOf(row, deliveries.key(org, id), shardOfDelivery(row), { status: row.status });
  };

/** The shard in which a delivery must be while it is open; undefined when it has ended. */
export const shardOfDelivery = ({ id, status }: { id: number; status: string }): string | undefined =>
  status === "pending" || status === "retrying" ? dueShard("DELIVERY", id) : undefined;

const problemOf = (
  row: DueEntry,
  key: Key,
  shard: string | undefined,
  /** Further attributes that the repair relies on. */
  reliesOn: Record<string, unknown>,
): Problem | undefined => {
  if (isDueRight(row, shard)) return undefined;
  const { dueShard: actualShard, dueAt } = row;
  return {
    says:
      shard === undefined
        ? "it is over and has an entry in the due index"
        : `it is not over and has no entry in the due index (${actualShard ?? "no shard"}, ${dueAt ?? "no time"})`,
    repair: async () => {
      await table.update(key, {
        ...(shard === undefined
          ? { remove: ["dueShard", "dueAt"] }
          : { set: { dueShard: shard, dueAt: dueAt ?? new Date().toISOString() } }),
        if: allOf(exists, asRead({ ...reliesOn, dueShard: actualShard, dueAt })),
      });
    },
  };
};
