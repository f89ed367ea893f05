/**
 * Who gets alerts of an organization by e-mail, and whether they want them. Each address has a row, whose secret is in
 * the link with which its reader unsubscribes and confirms.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { allOf, asRead, condition, exists } from "../../../aws/table/condition.ts";
import { type Key, keys } from "../../../aws/table/keys.ts";
import * as table from "../../../aws/table/table.ts";
import { Refusal } from "../../../contract/errors.ts";
import { tokenPattern } from "./recipient-schema.ts";

export type Recipient = {
  email: string;
  secret: string;
  createdAt: string;
  /** What the recipient said last. Absent: nothing yet. */
  consent?: "given" | "refused";
  /** How often the recipient was asked to confirm, and from when it may happen again (ISO 8601). */
  asked?: number;
  askAfter?: string;
};

/** A recipient as a channel writes the address, and the token of the recipient's link. */
export type Addressee = Omit<Recipient, "secret" | "createdAt"> & { token: string };

/** 128 bits in base64url. */
const secretBytes = 16;

/** Names an address, compared without case, in keys and links. 22 characters of base64url. */
export const fingerprint = (org: number, address: string): string =>
  createHash("sha256").update(`${org} ${address.toLowerCase()}`).digest("base64url").slice(0, 22);

/** The page on which a recipient unsubscribes and confirms. The fragment is in no log of a server. */
export const pageUrlOf = (dashboardUrl: string, token: string): string =>
  `${dashboardUrl}/recipient#${token}`;

/** What a mail program posts to when its user unsubscribes with one click (RFC 8058). */
export const oneClickUrlOf = (dashboardUrl: string, token: string): string =>
  new URL(`dashboard/recipients/${token}/unsubscribe`, dashboardUrl).href;

/**
 * The recipients with these addresses, each once. The first call for an address makes its row: one write unit, once.
 * Reads are strongly consistent, so that nobody gets a message after unsubscribing.
 */
export const addresseesOf = async (org: number, addresses: readonly string[]): Promise<Addressee[]> => {
  const written = new Map<string, string>();
  for (const address of addresses) {
    const name = fingerprint(org, address);
    if (!written.has(name)) written.set(name, address);
  }
  const names = [...written.keys()];
  const rows = await table.getMany<Recipient>(names.map((name) => keys.recipient(org, name)));
  return Promise.all(
    names.map(async (name, index) => {
      const email = written.get(name) ?? "";
      const { secret, ...recipient } = rows[index] ?? (await create(org, name, email));
      return { ...recipient, email, token: `${org}.${name}.${secret}` };
    }),
  );
};

/** What each of these addresses has said last. Makes no rows. */
export const consentsOf = async (
  org: number,
  addresses: readonly string[],
): Promise<Recipient["consent"][]> => {
  const rows = await table.getMany<Recipient>(
    addresses.map((each) => keys.recipient(org, fingerprint(org, each))),
  );
  return rows.map((row) => row?.consent);
};

/** Of several that make the same row, one draws the secret. */
const create = (org: number, name: string, email: string): Promise<Recipient> =>
  table.update<Recipient>(keys.recipient(org, name), {
    setOnce: {
      email,
      secret: randomBytes(secretBytes).toString("base64url"),
      createdAt: new Date().toISOString(),
    },
  });

/** The recipient whose link has this token, and its organization's id. Undefined: no link has it. */
export const find = async (token: string): Promise<{ org: number; recipient: Recipient } | undefined> => {
  const link = read(token);
  if (link === undefined) return undefined;
  const recipient = await table.get<Recipient>(link.key);
  return recipient !== undefined && isSame(recipient.secret, link.secret)
    ? { org: link.org, recipient }
    : undefined;
};

/** What a token names; undefined if it has not the form of one. */
const read = (token: string): { org: number; key: Key; secret: string } | undefined => {
  const [, organization, name = "", secret = ""] = tokenPattern.exec(token) ?? [];
  if (organization === undefined) return undefined;
  const org = Number(organization);
  return { org, key: keys.recipient(org, name), secret };
};

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Notes what the recipient of this link wants. Refuses `recipientLinkInvalid` when no link has this token. */
export const setConsent = async (
  token: string,
  consent: NonNullable<Recipient["consent"]>,
): Promise<void> => {
  const link = read(token);
  if (link === undefined) throw new Refusal("recipientLinkInvalid");
  const isIts = condition("#secret = :secret", { secret: link.secret });
  const { written } = await table.attempt(table.update(link.key, { set: { consent }, if: isIts }));
  if (!written) throw new Refusal("recipientLinkInvalid");
};

const maximumAsked = 3;

/** Whether a recipient who has not confirmed may be asked. */
export const mayBeAsked = ({ asked = 0, askAfter = "" }: Addressee, now: Date): boolean =>
  asked < maximumAsked && askAfter <= now.toISOString();

/**
 * Notes how often a recipient was asked, and from when somebody may ask again. Of several callers that have
 * read the same row one gets `true`. It is a transaction so that a lost reply does not look like somebody
 * else's note.
 */
export const setAsking = async (
  org: number,
  { email, asked, askAfter }: Addressee,
  set: Pick<Recipient, "asked" | "askAfter">,
): Promise<boolean> => {
  const update = keys.recipient(org, fingerprint(org, email));
  const asking = { update, set, if: allOf(exists, asRead({ asked, askAfter })) };
  return (await table.attempt(table.transact([asking]))).written;
};
