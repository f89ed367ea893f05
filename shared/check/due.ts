import { deliveries } from "../alerts/delivery.ts";
import { exists } from "../table/condition.ts";
import { type DueKind, dueShard, type Key } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { asRead, type Found, type Look } from "./difference.ts";

export type DueEntry = { dueShard?: string; dueAt?: string };

/** Whether a row's entry in the due index is what it should be: in its shard, or not at all. */
export const isDueRight = (row: DueEntry, shard: string | undefined): boolean =>
  row.dueShard === shard && (row.dueAt === undefined) === (shard === undefined);

/** Something that is left to do has an entry in the due index. */
export const lookAtDue =
  (kind: DueKind, id: number, key: Key): Look<Found> =>
  async () => {
    const row = await table.get<DueEntry>(key);
    if (row === undefined) return undefined;
    return wrongDue(row, key, dueShard(kind, id), {});
  };

/** A delivery is due exactly while it is open. */
export const lookAtDelivery =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await deliveries.get(org, id);
    if (row === undefined) return undefined;
    return wrongDue(row, deliveries.key(org, id), shardOfDelivery(row), { status: row.status });
  };

export const shardOfDelivery = ({ id, status }: { id: number; status: string }): string | undefined =>
  status === "pending" || status === "retrying" ? dueShard("DELIVERY", id) : undefined;

const wrongDue = (
  row: DueEntry,
  key: Key,
  shard: string | undefined,
  attributes: Record<string, unknown>,
): Found | undefined => {
  if (isDueRight(row, shard)) return undefined;
  const { dueShard: isShard, dueAt } = row;
  const asItWas = asRead({ ...attributes, dueShard: isShard, dueAt });
  return {
    says:
      shard === undefined
        ? "it is over and has an entry in the due index"
        : `it is not over and has no entry in the due index (${isShard ?? "no shard"}, ${dueAt ?? "no time"})`,
    mend: async () => {
      await table.update(key, {
        ...(shard === undefined
          ? { remove: ["dueShard", "dueAt"] }
          : { set: { dueShard: shard, dueAt: dueAt ?? new Date().toISOString() } }),
        if: { ...asItWas, expression: `${exists.expression} AND ${asItWas.expression}` },
      });
    },
  };
};
