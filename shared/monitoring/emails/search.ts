/**
 * Finds monitored e-mails by the beginning of their address, of their domain, or of a word of their owner's
 * name. Case and accents do not matter. Addresses and domain names are found by the rows that keep them
 * unique, words by rows of their own. Rows that begin with the same two characters share a partition, so a
 * query needs at least two.
 */
import { domainToUnicode } from "node:url";
import type { Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { asciiAddress, withFullStops } from "../../contract/domain-name.ts";
import { fold, isLongEnough, maximumWords, wordsOf } from "../../contract/search-text.ts";

type Named = { id: number; domainId: number; ownerName: string | null };

/** The rows by which the words of an owner's name are found: the first twenty with two characters or more. */
export const ownerWordRows = (
  org: number,
  { id, domainId, ownerName }: Named,
): (Key & { emailId: number; domainId: number; words: string[] })[] => {
  const words = wordsOf(ownerName ?? "").slice(0, maximumWords);
  return words
    .filter(isLongEnough)
    .map((word) => ({ ...keys.ownerWord(org, word, id), emailId: id, domainId, words }));
};

/** The writes when an e-mail gets an owner's name instead of `before`, for the transaction that changes its row. */
export const ownerWordWrites = (org: number, email: Named, before: string | null): Write[] => {
  const rows = ownerWordRows(org, email);
  const stays = new Set(rows.map(({ sk }) => sk));
  return [
    ...ownerWordRows(org, { ...email, ownerName: before })
      .filter(({ sk }) => !stays.has(sk))
      .map(({ pk, sk }) => ({ delete: { pk, sk } })),
    ...rows.map((row) => ({ put: row })),
  ];
};

type Found = {
  /** Domains all of whose e-mails are found. */
  domainIds: Set<number>;
  /** E-mails that are found by themselves, with their domains, newest first. */
  emails: { id: number; domainId: number }[];
};

/** What a query asks for: `text` as a whole, and as the beginning of an address or of a domain's name. */
const partsOf = (query: string): { text: string; address: string; domain: string } => {
  const text = fold(withFullStops(query)).trim();
  return { text, address: fold(asciiAddress(query.trim())), domain: text.replace(/^@/, "") };
};

/** Whether a query finds an address, or all addresses of a domain, where they are no rows. */
export type Matcher = { address: (address: string) => boolean; domain: (name: string) => boolean };

export const matcherOf = (query: string): Matcher => {
  const { text, address, domain } = partsOf(query);
  return {
    address: (given) => isLongEnough(text) && given.startsWith(address),
    domain: (name) => isLongEnough(domain) && [name, inUnicode(name)].some((each) => each.startsWith(domain)),
  };
};

/** What a query finds, in one trip. */
export const find = async (org: number, query: string): Promise<Found> => {
  const { text, address, domain } = partsOf(query);
  const [addresses, ofWords, domainIds] = await Promise.all([
    isLongEnough(text) ? rowsFrom<Reference>(keys.address(org, address)) : [],
    findByWords(org, wordsOf(text)),
    findDomains(org, domain),
  ]);
  const byId = new Map([...addresses, ...ofWords].map(({ emailId, domainId }) => [emailId, domainId]));
  const emails = [...byId].map(([id, domainId]) => ({ id, domainId }));
  return { domainIds, emails: emails.sort((one, other) => other.id - one.id) };
};

type Reference = { emailId: number; domainId: number };

/** No sort key is longer, and DynamoDB refuses to look for one. */
const maximumKeyBytes = 1024;

const rowsFrom = async <Row>({ pk, sk }: Key): Promise<Row[]> =>
  Buffer.byteLength(sk) > maximumKeyBytes ? [] : table.query<Row>({ pk, prefix: sk });

/** E-mails in whose owner's name each of these words begins a word. */
const findByWords = async (org: number, words: readonly string[]): Promise<Reference[]> => {
  const longest = words.toSorted((one, other) => other.length - one.length)[0] ?? "";
  if (!isLongEnough(longest)) return [];
  const { pk } = keys.ownerWord(org, longest, 0);
  const rows = await rowsFrom<Reference & { words: string[] }>({ pk, sk: longest });
  return rows.filter((row) => words.every((word) => row.words.some((each) => each.startsWith(word))));
};

/** Domains whose name begins with a folded text. International names are compared in their Unicode form too. */
const findDomains = async (org: number, name: string): Promise<Set<number>> => {
  if (!isLongEnough(name)) return new Set();
  const [named, international] = await Promise.all(
    [name, "xn--"].map((prefix) => rowsFrom<Key & { id: number }>(keys.domainName(org, prefix))),
  );
  const foreign = (international ?? []).filter(({ sk }) => inUnicode(sk).startsWith(name));
  return new Set([...(named ?? []), ...foreign].map(({ id }) => id));
};

const inUnicode = (name: string): string => fold(domainToUnicode(name));
