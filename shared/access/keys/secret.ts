import { createHash, randomInt } from "node:crypto";

/**
 * API keys and session cookies begin with the organization's id (8 base62 characters). Cookies go on with the
 * user's. So the authorizer reads all rows that decide in one request. Random characters follow. Only the
 * hash of a secret is stored.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 8;
const checksumLength = 6;
const keyRandomLength = 24;
const cookieRandomLength = 32;
const linkRandomLength = 32;

const base62 = (value: number, length: number): string => {
  let remaining = value;
  let text = "";
  for (let index = 0; index < length; index++) {
    text = alphabet.charAt(remaining % 62) + text;
    remaining = Math.floor(remaining / 62);
  }
  return text;
};

const fromBase62 = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);

const random = (length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(62))).join("");

/** Detects mistyped keys without a read of the table. It adds no security. */
const checksum = (body: string): string =>
  base62(createHash("sha256").update(body).digest().readUIntBE(0, 4), checksumLength);

/** A plain SHA-256 is enough: with at least 136 random bits, secrets cannot be guessed from their hashes. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

export const apiKeyPrefix = "bms_";

/**
 * A new API key: the prefix, 32 base62 characters (8 of the organization, 24 random), and 6 of the checksum.
 */
export const mintApiKey = (org: number): string => {
  const body = base62(org, idLength) + random(keyRandomLength);
  return `${apiKeyPrefix}${body}${checksum(body)}`;
};

/** How many random characters are shown, so that people recognize a key; the other 20 stay secret. */
const shownCharacters = 4;

/** How a key begins. */
export const previewOf = (key: string): string =>
  key.slice(0, apiKeyPrefix.length + idLength + shownCharacters);

const apiKeyForm = new RegExp(`^${apiKeyPrefix}([0-9A-Za-z]{32})([0-9A-Za-z]{6})$`);

/** The organization and the hash of a key; undefined when the text is not a well-formed key. */
export const readApiKey = (key: string): { organizationId: number; hash: string } | undefined => {
  const [, body, sum] = apiKeyForm.exec(key) ?? [];
  if (body === undefined || sum !== checksum(body)) return undefined;
  return { organizationId: fromBase62(body.slice(0, idLength)), hash: hashOf(key) };
};

export const directoryTokenPrefix = "bmd_";

/**
 * A new token of a directory: the prefix, 32 base62 characters, and 6 of the checksum. The first 8 are the
 * organization's id, the next one is the directory's place, and 23 are random.
 */
export const mintDirectoryToken = (org: number, place: number): string => {
  const body = base62(org, idLength) + base62(place, 1) + random(keyRandomLength - 1);
  return `${directoryTokenPrefix}${body}${checksum(body)}`;
};

const directoryTokenForm = new RegExp(`^${directoryTokenPrefix}([0-9A-Za-z]{32})([0-9A-Za-z]{6})$`);

/** What a directory's token names, and its hash; undefined when the text is not a well-formed token. */
export const readDirectoryToken = (
  token: string,
): { organizationId: number; place: number; hash: string } | undefined => {
  const [, body, sum] = directoryTokenForm.exec(token) ?? [];
  if (body === undefined || sum !== checksum(body)) return undefined;
  const place = fromBase62(body.slice(idLength, idLength + 1));
  return { organizationId: fromBase62(body.slice(0, idLength)), place, hash: hashOf(token) };
};

/** A new value for a session cookie: 48 base62 characters (8 of the organization, 8 of the user, 32 random). */
export const mintSession = (org: number, user: number): string =>
  base62(org, idLength) + base62(user, idLength) + random(cookieRandomLength);

/** What a session cookie's value names, and its hash; undefined when the value is not well-formed. */
export const readSession = (
  value: string,
): { organizationId: number; userId: number; hash: string } | undefined => {
  if (!/^[0-9A-Za-z]{48}$/.test(value)) return undefined;
  return {
    organizationId: fromBase62(value.slice(0, idLength)),
    userId: fromBase62(value.slice(idLength, 2 * idLength)),
    hash: hashOf(value),
  };
};

/** A new token for a sign-in link: 32 random base62 characters, 190 bits. */
export const mintLinkToken = (): string => random(linkRandomLength);
