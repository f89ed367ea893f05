/**
 * Requests that a client may repeat under one `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07). A repetition within 24 hours gets the reply of the first
 * request and changes nothing. Requests that were refused are not kept: they changed nothing, and a
 * repetition tries again.
 */
import { createHash, hkdfSync } from "node:crypto";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Actor } from "../activity/actor.ts";
import { decrypt, encrypt } from "../keys/encryption.ts";
import { type Headers, headerValues } from "./credential.ts";

const keptSeconds = 24 * 3600;

/** The first reply to a request, as the table holds it. `fingerprint` tells whether another request is the same one. */
type KeptReply = { fingerprint: string; reply: Buffer; expiresAt: number };

export type Repeatable = {
  /** The reply that the request got the first time; undefined the first time. Refuses `idempotencyKeyReused`. */
  earlierReply: () => Promise<unknown>;
  /**
   * Keeps the reply, in the transaction of what the request changes. Must be its first write: when another
   * request with the key was quicker, its refusal is the one that is thrown.
   */
  remember: (reply: unknown) => Write[];
  /** For a request that fails after its transaction. */
  forget: () => Write[];
};

/** A request without the header: nothing of it is kept. */
export const unrepeatable: Repeatable = {
  earlierReply: async () => undefined,
  remember: () => [],
  forget: () => [],
};

/**
 * `what`: all that must be equal in a repetition, compared as JSON. Refuses `invalidInput` for a key that
 * people could guess. The stored reply may hold a new API key, and is encrypted with that key alone.
 */
export const repeatable = (org: number, actor: Actor, event: Headers, what: unknown): Repeatable => {
  const given = keyOf(event);
  if (given === undefined) return unrepeatable;
  const name = digest([actor.type, actor.id, given]);
  const row = keys.idempotencyKey(org, name);
  const fingerprint = digest([given, what]);
  const cipherKey = Buffer.from(hkdfSync("sha256", given, name, "reply", 32));
  return {
    earlierReply: async () => {
      const kept = await table.get<KeptReply>(row);
      if (kept === undefined || kept.expiresAt <= seconds()) return undefined;
      if (kept.fingerprint !== fingerprint) throw new Refusal("idempotencyKeyReused");
      return decrypt(Buffer.from(kept.reply), cipherKey);
    },
    remember: (reply) => [
      {
        put: {
          ...row,
          fingerprint,
          reply: encrypt(reply, cipherKey),
          [timeToLive]: seconds() + keptSeconds,
        },
        if: condition("attribute_not_exists(#pk) OR #expiresAt <= :now", { now: seconds() }),
        refusal: "idempotencyKeyReused",
      },
    ],
    forget: () => [{ delete: row }],
  };
};

/** The key, with or without the quotes of a structured string (RFC 8941). */
const keyOf = (event: Headers): string | undefined => {
  const values = headerValues(event, "idempotency-key");
  if (values.length === 0) return undefined;
  const key = values[0]?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  if (values.length > 1 || !/^[\x21-\x7e]{16,255}$/.test(key)) {
    const error = "Idempotency-Key: must be one value of 16 to 255 visible ASCII characters, such as a UUID";
    throw new Refusal("invalidInput", { error });
  }
  return key;
};

const seconds = (): number => Math.floor(Date.now() / 1000);

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url");
