/**
 * The key that seals the configs of alert channels (seal.ts): 32 random bytes in base64. It is an encrypted
 * parameter of Parameter Store.
 */
import { createHash, randomBytes } from "node:crypto";
import { SSMProvider } from "@aws-lambda-powertools/parameters/ssm";
import { ParameterAlreadyExists, ParameterNotFound } from "@aws-sdk/client-ssm";
import { shortTimeouts } from "../../aws/timeouts.ts";
import { Refusal } from "../../contract/errors.ts";

/** `id` says which key it is, and nothing about its bytes. */
type ChannelKey = { id: string; bytes: Buffer };

const keyBytes = 32;

/** A config that another key has sealed asks for the key at once, whatever its age. */
const maxAgeSeconds = 3_600;

/** The key cannot be had. The message names the parameter and never its value. */
export class ChannelKeyUnavailable extends Error {
  constructor(why: string) {
    super(`The parameter ${parameterName()} with the key of alert channels ${why}`);
    this.name = "ChannelKeyUnavailable";
  }
}

/** The key that seals, read anew, so that no replaced key seals. The first call of a deployment makes it. */
export const sealingKey = async (): Promise<ChannelKey> =>
  (await read({ forceFetch: true })) ?? (await create());

let reading: Promise<ChannelKey | undefined> | undefined;

/** The key that has sealed something, or another key if that one is gone. Calls at the same time are one request. */
export const openingKey = async (id: string): Promise<ChannelKey> => {
  reading ??= read().finally(() => {
    reading = undefined;
  });
  const known = await reading;
  const key = known?.id === id ? known : await read({ forceFetch: true });
  if (key === undefined) throw new ChannelKeyUnavailable("does not exist: restore it from its backup");
  return key;
};

const parameterName = (): string => process.env.CHANNEL_KEY_PARAMETER ?? "";

let provider: SSMProvider | undefined;

const parameters = (): SSMProvider => {
  // All instances that start together share 40 requests a second.
  provider ??= new SSMProvider({ clientConfig: { maxAttempts: 5, requestHandler: shortTimeouts } });
  return provider;
};

/** The key, or undefined when the parameter does not exist. */
const read = async ({ forceFetch = false } = {}): Promise<ChannelKey | undefined> => {
  const options = { maxAge: maxAgeSeconds, forceFetch, decrypt: true };
  const value = await parameters().get(parameterName(), options).catch(absentIfNotFound);
  return value === undefined ? undefined : keyOf(String(value));
};

const absentIfNotFound = ({ cause }: Error): undefined => {
  if (!(cause instanceof ParameterNotFound))
    throw new ChannelKeyUnavailable(`cannot be read (${(cause as Error)?.name})`);
};

/** Makes the parameter, unless another caller makes it at the same time: then everybody has that one's key. */
const create = async (): Promise<ChannelKey> => {
  const description = "Key that seals the urls and secrets of alert channels. Without it no channel sends";
  const value = randomBytes(keyBytes).toString("base64");
  await parameters()
    .set(parameterName(), { value, parameterType: "SecureString", overwrite: false, description })
    .catch(({ cause }: Error) => {
      // Also when the reply to a first try got lost.
      if (!(cause instanceof ParameterAlreadyExists))
        throw new ChannelKeyUnavailable(`cannot be made (${(cause as Error)?.name})`);
    });
  const key = await read({ forceFetch: true });
  // A new parameter cannot be read everywhere at once.
  if (key === undefined) throw new Refusal("busy", { headers: { "Retry-After": "1" } });
  return key;
};

const keyOf = (text: string): ChannelKey => {
  const bytes = Buffer.from(text.trim(), "base64");
  if (bytes.length !== keyBytes)
    throw new ChannelKeyUnavailable(`must hold one key of ${keyBytes} bytes in base64`);
  const id = createHash("sha256").update(bytes).digest("base64url").slice(0, 8);
  return { id, bytes };
};
