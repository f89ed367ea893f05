/**
 * Every key of the single table, on one screen.
 *
 * `pk` and `sk` are strings. Ids in sort keys are padded so that string order is numeric order. Everything of an
 * organization has a `pk` that starts with `ORG#<id>`, so a foreign id cannot resolve: the organization is in the key.
 */

export type Key = { pk: string; sk: string };

/** Kinds whose members are counted lists (see counted-list.ts): blocks of 512 ids and a directory row for each block. */
export const listKinds = ["EMAIL", "FINDING", "SCAN", "ACTIVITY", "DELIVERY"] as const;
export type ListKind = (typeof listKinds)[number];

/** Kinds that draw single ids from a global counter. */
export type CounterKind =
  | "ORGANIZATION"
  | "DOMAIN"
  | "TEAM"
  | "USER"
  | "SESSION"
  | "KEY"
  | "CHANNEL"
  | "BREACH";

/** Decimal, padded to the 16 digits of 2^53. */
export const padded = (id: number): string => String(id).padStart(16, "0");

/** What the sort keys of rows beside a directory begin with: they lie in front of its blocks, and come with every page. */
export const beside = "#";
export const ownCheckPrefix = `${beside}OWN-CHECK#`;
export const rollupPrefix = `${beside}ROLLUP#`;
/** Lies in front of everything else of a directory, so that who does not need it does not read it. */
export const marksPrefix = "!MARKS#";

export const keys = {
  // Organization: one partition for what is small and read together.
  organization: (org: number): Key => ({ pk: `ORG#${org}`, sk: "ORGANIZATION" }),
  seats: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SEATS" }),
  scanLock: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SCAN-LOCK" }),
  /** A scan that the service is to start by itself, at once or later. */
  scanRequest: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SCAN-REQUEST" }),
  listHead: (org: number, kind: ListKind): Key => ({ pk: `ORG#${org}`, sk: `HEAD#${kind}` }),
  domain: (org: number, id: number): Key => ({ pk: `ORG#${org}#DOMAIN`, sk: padded(id) }),
  /**
   * Where e-mails' own rows may tell another last check than their domain's watermark (emails/own-check.ts): a row for each
   * such domain, and one with the ids for every 2,048 e-mails. Beside the directory of findings, whose lists need them.
   */
  ownChecksOfDomain: (org: number, domain: number): Key => ({
    pk: `ORG#${org}#FINDING`,
    sk: `${ownCheckPrefix}DOMAIN#${padded(domain)}`,
  }),
  ownChecksOfEmails: (org: number, row: number): Key => ({
    pk: `ORG#${org}#FINDING`,
    sk: `${ownCheckPrefix}EMAIL#${padded(row)}`,
  }),
  domainName: (org: number, name: string): Key => ({ pk: `ORG#${org}#DOMAIN-NAME`, sk: name }),
  team: (org: number, id: number): Key => ({ pk: `ORG#${org}#TEAM`, sk: padded(id) }),
  user: (org: number, id: number): Key => ({ pk: `ORG#${org}#USER`, sk: padded(id) }),
  /** Makes an address unique among the users who are not removed; holds the id of the user. */
  userEmail: (org: number, email: string): Key => ({ pk: `ORG#${org}#USER-EMAIL`, sk: email }),
  /** Of sessions and keys `hash` is the SHA-256 of the secret in base64url; the secret itself is never stored. */
  session: (org: number, hash: string): Key => ({ pk: `ORG#${org}#SESSION`, sk: hash }),
  apiKey: (org: number, hash: string): Key => ({ pk: `ORG#${org}#KEY`, sk: hash }),
  /** How many alert channels there are, so that the 21st is refused however many try at once. */
  channelCount: (org: number): Key => ({ pk: `ORG#${org}`, sk: "CHANNEL-COUNT" }),
  channel: (org: number, id: number): Key => ({ pk: `ORG#${org}#CHANNEL`, sk: padded(id) }),
  /** Makes an address unique within its organization; holds the id of the e-mail. */
  address: (org: number, email: string): Key => ({ pk: `ORG#${org}#ADDRESS#${email}`, sk: "ADDRESS" }),
  /** A removal that is not finished: the findings of a removed e-mail that are still to be deleted. */
  removal: (org: number, email: number): Key => ({ pk: `ORG#${org}#REMOVAL`, sk: padded(email) }),
  /** A removed alert channel whose delivery history is still to be deleted. */
  channelRemoval: (org: number, channel: number): Key => ({
    pk: `ORG#${org}#CHANNEL-REMOVAL`,
    sk: padded(channel),
  }),
  /** Ids of the users, and of the removed ones, so that the log can tell them apart without reading each. */
  membership: (org: number): Key => ({ pk: `ORG#${org}`, sk: "MEMBERSHIP" }),
  /** Single look-ups of one chunk of a scan: the cursor that says how far they are. */
  lookup: (org: number, scan: number, batch: number, chunk: string): Key => ({
    pk: `ORG#${org}#LOOKUP#${scan}`,
    sk: `${batch}#${chunk}`,
  }),
  /** A chunk that is done, or that its scan's end counted as failed: nothing of it is written any more. */
  closedChunk: (org: number, scan: number, batch: number, chunk: string): Key => ({
    pk: `ORG#${org}#CLOSED-CHUNK#${scan}`,
    sk: `${batch}#${chunk}`,
  }),

  // Counted lists
  directory: (org: number, kind: ListKind, block: number): Key => ({
    pk: `ORG#${org}#${kind}`,
    sk: padded(block),
  }),
  /** The counters of many blocks, up to this one. */
  rollup: (org: number, kind: ListKind, last: number): Key => ({
    pk: `ORG#${org}#${kind}`,
    sk: `${rollupPrefix}${padded(last)}`,
  }),
  /** Where the members of those blocks are. */
  marks: (org: number, kind: ListKind, last: number): Key => ({
    pk: `ORG#${org}#${kind}`,
    sk: `${marksPrefix}${padded(last)}`,
  }),
  /** The number of the last change of rollups, before and after it: the last (but for `marks`) and the first of a descending query. */
  rollupsBegun: (org: number, kind: ListKind): Key => ({ pk: `ORG#${org}#${kind}`, sk: "!ROLLUPS" }),
  rollupsEnded: (org: number, kind: ListKind): Key => ({ pk: `ORG#${org}#${kind}`, sk: "~ROLLUPS" }),
  member: (org: number, kind: ListKind, block: number, id: number): Key => ({
    pk: `ORG#${org}#${kind}#${block}`,
    sk: padded(id),
  }),

  // Deployment-wide
  counter: (kind: ListKind | CounterKind): Key => ({ pk: "COUNTER", sk: kind }),
  /** One small row for each organization, to go through them all. */
  organizations: (org: number): Key => ({ pk: "ORGANIZATIONS", sk: padded(org) }),
  breach: (id: number): Key => ({ pk: `BREACH#${id}`, sk: "BREACH" }),
  breachNames: (): Key => ({ pk: "CATALOG-NAMES", sk: "NAMES" }),
  subscription: (): Key => ({ pk: "UPSTREAM", sk: "SUBSCRIPTION" }),
  limiter: (): Key => ({ pk: "UPSTREAM", sk: "LIMITER" }),
  /** A fixed rate-limit window: `subject` is an address, a key or an organization's bucket; expires by TTL. */
  limit: (subject: string, window: string): Key => ({ pk: `LIMIT#${subject}`, sk: window }),
};

/**
 * The due index (sparse, keys only): rows that something must happen to at `dueAt` (ISO 8601). Sharded so that no
 * index partition is hot.
 */
export const dueIndex = { name: "due", partition: "dueShard", sort: "dueAt" } as const;
export type DueKind = "SCAN" | "SCAN-REQUEST" | "DELIVERY" | "REMOVAL" | "CHANNEL-REMOVAL" | "DELETION";
const dueShards: Record<DueKind, number> = {
  SCAN: 4,
  "SCAN-REQUEST": 4,
  DELIVERY: 4,
  // Rare: they never make an index partition hot.
  REMOVAL: 1,
  "CHANNEL-REMOVAL": 1,
  DELETION: 1,
};
export const dueShard = (kind: DueKind, id: number): string => `${kind}#${id % dueShards[kind]}`;
/** All partitions of the index that hold rows of a kind. */
export const dueShardsOf = (kind: DueKind): string[] =>
  Array.from({ length: dueShards[kind] }, (_, shard) => dueShard(kind, shard));

/** Rows of the due index name their organization in `pk`; deliveries and removals also their id in `sk`. */
export const organizationOf = (key: Key): number => Number(/^ORG#(\d+)/.exec(key.pk)?.[1]);

/** Epoch seconds at which DynamoDB may delete the row. No rule relies on it having done so. */
export const timeToLive = "expiresAt";
