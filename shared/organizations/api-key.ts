import * as activity from "../activity/activity.ts";
import { drawId } from "../table/blocks.ts";
import { absent, condition, exists } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Actor } from "./actor.ts";
import { hashOf, mintApiKey } from "./secret.ts";

export type ApiKey = { id: number; label: string; createdAt: string; revokedAt: string | null };

/** Creates a key. `key` is shown this once: only its hash is stored. */
export const create = async (org: number, label: string, actor: Actor): Promise<ApiKey & { key: string }> => {
  const [id, slot] = await Promise.all([drawId("KEY"), activity.slot(org)]);
  const key = mintApiKey(org);
  const row = { id, label, createdAt: slot.createdAt, revokedAt: null };
  await table.transact([
    { check: keys.organization(org), if: exists },
    { put: { ...keys.apiKey(org, hashOf(key)), ...row }, if: absent },
    ...activity.writes(org, slot, {
      action: "api_key.created",
      summary: `Created the API key ${label}`,
      actor,
    }),
  ]);
  return { ...row, key };
};

/** Newest first, revoked ones included. */
export const list = async (org: number): Promise<ApiKey[]> => {
  const rows = await table.query<ApiKey & Key>({ pk: keys.apiKey(org, "").pk });
  return rows
    .map(({ id, label, createdAt, revokedAt }) => ({ id, label, createdAt, revokedAt }))
    .sort((a, b) => b.id - a.id);
};

/** Revokes a key; the very next request with it is refused. Revoking again changes nothing. */
export const revoke = async (org: number, id: number, actor: Actor): Promise<"revoked" | "unknown"> => {
  const rows = await table.query<ApiKey & Key>({ pk: keys.apiKey(org, "").pk });
  const row = rows.find((each) => each.id === id);
  if (row === undefined) return "unknown";
  if (row.revokedAt !== null) return "revoked";
  const slot = await activity.slot(org);
  try {
    await table.transact([
      {
        update: { pk: row.pk, sk: row.sk },
        set: { revokedAt: slot.createdAt },
        if: condition("attribute_exists(#pk) AND #revokedAt = :never", { never: null }),
      },
      ...activity.writes(org, slot, {
        action: "api_key.revoked",
        summary: `Revoked the API key ${row.label}`,
        actor,
      }),
    ]);
  } catch (error) {
    // Somebody else revoked it in between.
    if (!(error instanceof table.TransactionRefused)) throw error;
  }
  return "revoked";
};
