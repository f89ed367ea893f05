/**
 * The keys that seal the configs of alert channels (seal.ts), from one encrypted parameter of Parameter Store. Its
 * value is 32 random bytes in base64; after a rotation several, the newest first, joined by commas.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  GetParameterCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
  SSMClient,
} from "@aws-sdk/client-ssm";
import { Refusal } from "../../contract/errors.ts";

/** `id` says which key it is, and nothing about its bytes. */
export type ChannelKey = { id: string; bytes: Buffer };

const keyBytes = 32;

/** A replaced key seals no longer than this. */
const maximumAgeMilliseconds = 5 * 60_000;

/** The keys cannot be had. The message names the parameter and never its value. */
export class ChannelKeyUnavailable extends Error {
  constructor(why: string) {
    super(`The parameter ${process.env.CHANNEL_KEY_PARAMETER} with the key of alert channels ${why}`);
    this.name = "ChannelKeyUnavailable";
  }
}

type Read = { keys: ChannelKey[]; at: number };

let last: Read | undefined;

/** The key that seals now. The first call of a deployment makes it. */
export const sealingKey = async (): Promise<ChannelKey> => {
  const isFresh = last !== undefined && Date.now() - last.at < maximumAgeMilliseconds;
  const keys = isFresh ? last?.keys : ((await read()) ?? (await create()));
  const [newest] = keys ?? [];
  if (newest === undefined) throw new ChannelKeyUnavailable("holds no key");
  return newest;
};

/** The key with this id, or undefined. Keys that are known are not read again. */
export const keyWithId = async (id: string): Promise<ChannelKey | undefined> => {
  const find = (keys: readonly ChannelKey[] = []) => keys.find((key) => key.id === id);
  const known = find(last?.keys);
  if (known !== undefined) return known;
  const keys = await read();
  if (keys === undefined) throw new ChannelKeyUnavailable("does not exist: restore it from its backup");
  return find(keys);
};

let client: SSMClient | undefined;

const ssm = (): SSMClient => {
  client ??= new SSMClient({
    // All instances that start together share 40 requests a second.
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  });
  return client;
};

let reading: Promise<ChannelKey[] | undefined> | undefined;

/** The keys, newest first. Undefined when the parameter does not exist. Calls at the same time are one request. */
const read = (): Promise<ChannelKey[] | undefined> => {
  reading ??= ask().finally(() => {
    reading = undefined;
  });
  return reading;
};

const ask = async (): Promise<ChannelKey[] | undefined> => {
  const command = new GetParameterCommand({ Name: process.env.CHANNEL_KEY_PARAMETER, WithDecryption: true });
  try {
    const { Parameter } = await ssm().send(command);
    return keep(Parameter?.Value ?? "");
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    if (error instanceof ChannelKeyUnavailable) throw error;
    throw new ChannelKeyUnavailable(`cannot be read (${(error as Error).name})`);
  }
};

/** Makes the parameter, unless another caller makes it at the same time: then everybody has that one's key. */
const create = async (): Promise<ChannelKey[]> => {
  const value = randomBytes(keyBytes).toString("base64");
  const command = new PutParameterCommand({
    Name: process.env.CHANNEL_KEY_PARAMETER,
    Description: "Key that seals the urls and secrets of alert channels. Without it no channel sends",
    Type: "SecureString",
    Value: value,
    Overwrite: false,
  });
  try {
    await ssm().send(command);
    return keep(value);
  } catch (error) {
    // Also when the reply to a first try got lost: whose key it is only the parameter says.
    if (!(error instanceof ParameterAlreadyExists))
      throw new ChannelKeyUnavailable(`cannot be made (${(error as Error).name})`);
  }
  const keys = await read();
  // A new parameter cannot be read everywhere at once.
  if (keys === undefined) throw new Refusal("busy", { headers: { "Retry-After": "1" } });
  return keys;
};

const keep = (value: string): ChannelKey[] => {
  const keys = value.split(",").map(keyOf);
  last = { keys, at: Date.now() };
  return keys;
};

const keyOf = (text: string): ChannelKey => {
  const bytes = Buffer.from(text.trim(), "base64");
  if (bytes.length !== keyBytes)
    throw new ChannelKeyUnavailable(`must hold keys of ${keyBytes} bytes in base64, joined by commas`);
  const id = createHash("sha256").update(bytes).digest("base64url").slice(0, 8);
  return { id, bytes };
};
