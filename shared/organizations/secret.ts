import { createHash, randomInt } from "node:crypto";

/**
 * Secrets that name their organization, so that its row can be read at the same time as theirs: 8 base62 characters of
 * the organization's id, then random ones. Only a hash is stored.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const organizationLength = 8;
const checksumLength = 6;
const keyRandomLength = 24;
const cookieRandomLength = 32;

const base62 = (value: number, length: number): string => {
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index++) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
};

const fromBase62 = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);

const random = (length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(62))).join("");

/** Finds typing errors without a look-up; it protects nothing. */
const checksum = (body: string): string =>
  base62(createHash("sha256").update(body).digest().readUIntBE(0, 4), checksumLength);

/** SHA-256 is enough for secrets of this entropy (143 bits and more): there is nothing to guess. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

export const apiKeyPrefix = "bms_";

/** The prefix, 32 base62 characters and a checksum of 6 (decisions.md "Authorization header"). */
export const mintApiKey = (org: number): string => {
  const body = base62(org, organizationLength) + random(keyRandomLength);
  return `${apiKeyPrefix}${body}${checksum(body)}`;
};

const apiKeyForm = new RegExp(`^${apiKeyPrefix}([0-9A-Za-z]{32})([0-9A-Za-z]{6})$`);

/** The organization that a key names and the hash it is stored under; undefined when it is not in the form of a key. */
export const readApiKey = (key: string): { organizationId: number; hash: string } | undefined => {
  const [, body, sum] = apiKeyForm.exec(key) ?? [];
  if (body === undefined || sum !== checksum(body)) return undefined;
  return { organizationId: fromBase62(body.slice(0, organizationLength)), hash: hashOf(key) };
};

/** The value of a session cookie. */
export const mintSession = (org: number): string =>
  base62(org, organizationLength) + random(cookieRandomLength);

export const readSession = (value: string): { organizationId: number; hash: string } | undefined => {
  if (!/^[0-9A-Za-z]{40}$/.test(value)) return undefined;
  return { organizationId: fromBase62(value.slice(0, organizationLength)), hash: hashOf(value) };
};
