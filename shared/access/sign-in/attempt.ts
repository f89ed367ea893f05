/**
 * Attempts to sign in by the identity provider that this service has begun. A row for each says so, until its answer
 * comes: for a made-up secret, or one that was used, the provider is not asked.
 */
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { attemptSeconds } from "../api/attempt-cookie.ts";
import { hashOf } from "../keys/secret.ts";
import { unexpired } from "./link.ts";

const keyOf = (secret: string) => keys.signInAttempt(hashOf(`attempt ${secret}`));

export const begin = (secret: string): Promise<void> =>
  table.put({ ...keyOf(secret), [timeToLive]: Math.floor(Date.now() / 1_000) + attemptSeconds });

/** Uses the attempt up. Refuses `attemptUnknown`. */
export const end = async (secret: string): Promise<void> => {
  const { written } = await table.attempt(table.remove(keyOf(secret), unexpired()));
  if (!written) throw new Refusal("attemptUnknown");
};
