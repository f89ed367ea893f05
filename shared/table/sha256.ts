import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from "node:crypto";

type Data = string | ArrayBuffer | ArrayBufferView;

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);

/** Of the keys that the SDK derives, keeps and signs with for a day; they go with them. */
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
 * SHA-256, or with a secret its HMAC, as the SDK's option `sha256` takes it to sign requests. As the SDK's own it is Node.js's; but
 * that makes a key ready anew for each request and copies each hash: a twelfth of what a list computes (DECISIONS.md).
 */
export class Sha256 {
  readonly digestLength = 32;
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#made();
  }

  update(data: Data): void {
    this.#hash.update(typeof data === "string" ? data : bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#made();
  }

  #made(): Hash | Hmac {
    if (this.#secret === undefined) return createHash("sha256");
    return createHmac("sha256", typeof this.#secret === "string" ? this.#secret : keyObjectOf(this.#secret));
  }
}
