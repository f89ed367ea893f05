import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { drawId } from "../../lists/blocks.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import { isAdmin } from "../members/membership.ts";
import { hashOf, mintApiKey, previewOf } from "./secret.ts";

export type ApiKey = {
  id: number;
  label: string;
  createdAt: string;
  revokedAt: string | null;
  /** How the key begins. */
  preview: string;
  /** The user who created it; absent when the command line did. */
  createdBy?: { id: number; label: string };
  /** Exact to the hour; absent before the first use. */
  lastUsedAt?: string;
  /** It may ask by GET alone; absent: it may do all that the organization may. */
  onlyReads?: true;
  /**
   * When the key ends; absent: never. Not called `expiresAt`: the authorizer may write that of sessions, and so
   * of these rows.
   */
  endsAt?: string;
};

/** What a key may do, and when it ends. */
export type Terms = { access: "full" | "read"; expiresAt: string | null };

/** A key as it is listed. */
export type ListedKey = Pick<ApiKey, "id" | "label" | "createdAt" | "revokedAt" | "preview"> &
  Terms & {
    createdBy: { id: number; label: string } | null;
    lastUsedAt: string | null;
  };

type CreatedKey = ListedKey & { key: string };

/**
 * Creates a key. Only the hash of `key` is stored, so the caller must show `key` now. `also`: further writes
 * of the transaction, which go first. Refuses `adminOnly` if the user has just been removed or demoted, whose
 * keys may be revoked then.
 */
export const create = async (
  org: number,
  { label, access, expiresAt }: { label: string } & Terms,
  actor: Actor,
  also: (created: CreatedKey) => readonly Write[] = () => [],
): Promise<CreatedKey> => {
  const [id, slot] = await Promise.all([drawId("KEY"), activity.slot(org)]);
  const key = mintApiKey(org);
  const row: ApiKey = {
    id,
    label,
    preview: previewOf(key),
    createdAt: slot.createdAt,
    ...(actor.type === "user" && { createdBy: { id: actor.id, label: actor.label } }),
    ...(access === "read" && { onlyReads: true }),
    ...(expiresAt !== null && { endsAt: expiresAt }),
    revokedAt: null,
  };
  const created = { ...listed(row), key };
  await table.transact([
    ...also(created),
    ...(actor.type === "user"
      ? [{ check: keys.user(org, actor.id), if: isAdmin, refusal: "adminOnly" } as const]
      : []),
    { put: { ...keys.apiKey(org, hashOf(key)), ...row }, if: absent },
    ...activity.writes(org, slot, {
      action: "api_key.created",
      summary: `Created the API key ${label}${inWords({ access, expiresAt })}`,
      actor,
    }),
  ]);
  return created;
};

/** What limits a key, to go behind its label; nothing if it may do everything and does not end. */
const inWords = ({ access, expiresAt }: Terms): string =>
  [
    ...(access === "read" ? [", which only reads"] : []),
    ...(expiresAt === null ? [] : [`, until ${expiresAt}`]),
  ].join("");

/** Neither revoked nor ended. */
export const isValid = ({ revokedAt, endsAt }: ApiKey, now: Date): boolean =>
  revokedAt === null && (endsAt === undefined || Date.parse(endsAt) > now.getTime());

/** All keys, newest first, including revoked and ended ones. */
export const list = async (org: number): Promise<ListedKey[]> => {
  const rows = await table.query<ApiKey & Key>({ pk: keys.apiKey(org, "").pk });
  return rows.map((row) => listed(row)).sort((a, b) => b.id - a.id);
};

const listed = (row: ApiKey): ListedKey => ({
  id: row.id,
  label: row.label,
  preview: row.preview,
  createdAt: row.createdAt,
  createdBy: row.createdBy ?? null,
  lastUsedAt: row.lastUsedAt ?? null,
  access: row.onlyReads === true ? "read" : "full",
  expiresAt: row.endsAt ?? null,
  revokedAt: row.revokedAt,
});

/** Revokes the keys that a user has made. Repeating an interrupted call revokes the rest. */
export const revokeMadeBy = async (org: number, userId: number, actor: Actor): Promise<void> => {
  for (const { id, createdBy, revokedAt } of await list(org))
    if (createdBy?.id === userId && revokedAt === null) await revoke(org, id, actor);
};

/** Revokes a key: the very next request with it is refused. Revoking it again changes nothing. */
export const revoke = (org: number, id: number, actor: Actor): Promise<"revoked" | "unknown"> =>
  withOptimisticRetry(async () => {
    const rows = await table.query<ApiKey & Key>({ pk: keys.apiKey(org, "").pk });
    const row = rows.find((each) => each.id === id);
    if (row === undefined) return "unknown";
    if (row.revokedAt !== null) return "revoked";
    const slot = await activity.slot(org);
    // A refusal says nothing about the key, since the entry's conditions fail too: the next try reads it again.
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
    return "revoked";
  });
