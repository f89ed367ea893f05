import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from "node:crypto";

type Data = string | ArrayBuffer | ArrayBufferView;

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);

/** By the signing key as the SDK gives it: the SDK derives one for each day and keeps it. */
const keyObjects = new WeakMap<ArrayBuffer | ArrayBufferView, KeyObject>();

const keyObjectOf = (secret: ArrayBuffer | ArrayBufferView): KeyObject => {
  let key = keyObjects.get(secret);
  if (key === undefined) {
    key = createSecretKey(bytesOf(secret));
    keyObjects.set(secret, key);
  }
  return key;
};

/**
 * SHA-256, or its HMAC when there is a secret, for the SDK's option `sha256`, which signs requests. The SDK's
 * own class also calls Node.js, but prepares the key again for each request and copies each hash: a twelfth
 * of a list's CPU time.
 */
export class Sha256 {
  readonly digestLength = 32;
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#newHash();
  }

  update(data: Data): void {
    this.#hash.update(typeof data === "string" ? data : bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#newHash();
  }

  #newHash(): Hash | Hmac {
    if (this.#secret === undefined) return createHash("sha256");
    return createHmac("sha256", typeof this.#secret === "string" ? this.#secret : keyObjectOf(this.#secret));
  }
}
