/** AES-256-GCM of a value in JSON: a random nonce, the encrypted text, and a tag that shows every change. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** `key`: 32 bytes. `boundTo`: what decrypting has to name again. */
export const encrypt = (value: unknown, key: Buffer, boundTo = ""): Buffer => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(boundTo));
  const text = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([nonce, text, cipher.getAuthTag()]);
};

/** Throws for other bytes, another key, or another `boundTo`. */
export const decrypt = (bytes: Buffer, key: Buffer, boundTo = ""): unknown => {
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const text = bytes.subarray(nonceBytes, -tagBytes);
  return JSON.parse(Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8"));
};
