/**
 * Every key of the single table.
 *
 * `pk` and `sk` are strings. Ids in sort keys are padded, so that string order is numeric order. The `pk` of
 * every row of an organization starts with `ORG#<id>`: an id of another organization leads to no row.
 */

export type Key = { pk: string; sk: string };

/** Kinds whose members are counted lists (lists/counted-list.ts). */
export const listKinds = ["EMAIL", "FINDING", "SCAN", "ACTIVITY", "DELIVERY", "PERSON", "GROUP"] as const;
export type ListKind = (typeof listKinds)[number];

/** Kinds whose ids come one by one from a counter of the whole deployment. */
export type CounterKind =
  | "ORGANIZATION"
  | "DOMAIN"
  | "TEAM"
  | "USER"
  | "KEY"
  | "CHANNEL"
  | "BREACH"
  | "ACKNOWLEDGEMENT"
  | "DIRECTORY";

/** The id in decimal digits, padded to the 16 that 2^53 has. */
export const padded = (id: number): string => String(id).padStart(16, "0");

/** Rows for searches by the beginning of a text share a partition by their first two characters. */
const beginning = (text: string): string => [...text].slice(0, 2).join("");

export const keys = {
  // Rows of an organization. Small rows that are read together share its partition.
  /** In a partition of its own: IAM tells rows apart by partition, and few functions may write this one. */
  organization: (org: number): Key => ({ pk: `ORG#${org}#ORGANIZATION`, sk: "ORGANIZATION" }),
  seats: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SEATS" }),
  scanLock: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SCAN-LOCK" }),
  /** Which notices about the HIBP plan were reported to the organization (scanning/report-plan-notices.ts). */
  reportedPlanNotices: (org: number): Key => ({ pk: `ORG#${org}`, sk: "REPORTED-PLAN-NOTICES" }),
  /** Asks the service to start a scan, at once or at a later time. */
  scanRequest: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SCAN-REQUEST" }),
  listHead: (org: number, kind: ListKind): Key => ({ pk: `ORG#${org}`, sk: `HEAD#${kind}` }),
  domain: (org: number, id: number): Key => ({ pk: `ORG#${org}#DOMAIN`, sk: padded(id) }),
  /**
   * Marks of e-mails that may have a last check of their own (monitoring/domains/own-checks.ts): a row for each marked
   * domain, and a row with the marked e-mails of every 2,048 ids.
   */
  ownChecksOfDomain: (org: number, domain: number): Key => ({
    pk: `ORG#${org}#OWN-CHECK`,
    sk: `DOMAIN#${padded(domain)}`,
  }),
  ownChecksOfEmails: (org: number, row: number): Key => ({
    pk: `ORG#${org}#OWN-CHECK`,
    sk: `EMAIL#${padded(row)}`,
  }),
  domainName: (org: number, name: string): Key => ({ pk: `ORG#${org}#DOMAIN-NAME`, sk: name }),
  /** Says that a domain was removed. */
  domainRemoval: (org: number, domain: number): Key => ({
    pk: `ORG#${org}#DOMAIN-REMOVAL`,
    sk: padded(domain),
  }),
  /** The root of a domain's unwatched addresses, and the parts of its documents (monitoring/unwatched/store.ts). */
  unwatched: (org: number, domain: number): Key => ({ pk: `ORG#${org}#UNWATCHED`, sk: padded(domain) }),
  /** How many of them are in each breach. */
  unwatchedCounts: (org: number, domain: number): Key => ({
    pk: `ORG#${org}#UNWATCHED-COUNTS`,
    sk: padded(domain),
  }),
  /** What a scan found of them (monitoring/unwatched/of-scan.ts). */
  unwatchedOfScan: (org: number, scan: number): Key => ({
    pk: `ORG#${org}#UNWATCHED-OF-SCAN`,
    sk: padded(scan),
  }),
  unwatchedPart: (org: number, domain: number, version: string, part: number): Key => ({
    pk: `ORG#${org}#UNWATCHED#${domain}`,
    sk: `${version}#${part}`,
  }),
  team: (org: number, id: number): Key => ({ pk: `ORG#${org}#TEAM`, sk: padded(id) }),
  /** Keeps a name unique among the organization's teams. Holds the team's id. */
  teamName: (org: number, name: string): Key => ({ pk: `ORG#${org}#TEAM-NAME`, sk: name }),
  user: (org: number, id: number): Key => ({ pk: `ORG#${org}#USER`, sk: padded(id) }),
  /**
   * `hash` is the SHA-256 of the secret in base64url. The secret itself is never stored. Rows of one user's
   * sessions follow each other.
   */
  session: (org: number, user: number, hash: string): Key => ({
    pk: `ORG#${org}#SESSION`,
    sk: `${padded(user)}#${hash}`,
  }),
  /** `hash` as of a session. */
  apiKey: (org: number, hash: string): Key => ({ pk: `ORG#${org}#KEY`, sk: hash }),
  /** The reply to a request that may be repeated (access/api/idempotency.ts). */
  idempotencyKey: (org: number, name: string): Key => ({ pk: `ORG#${org}#IDEMPOTENCY-KEY`, sk: name }),
  /** An address that alerts go to. `name` is its fingerprint (alerting/kinds/email/recipient.ts). */
  recipient: (org: number, name: string): Key => ({ pk: `ORG#${org}#RECIPIENT`, sk: name }),
  /** Counts the alert channels, so that concurrent requests cannot create more than the maximum. */
  channelCount: (org: number): Key => ({ pk: `ORG#${org}`, sk: "CHANNEL-COUNT" }),
  channel: (org: number, id: number): Key => ({ pk: `ORG#${org}#CHANNEL`, sk: padded(id) }),
  /**
   * Keeps an address unique within its organization, and finds it by its beginning. Holds the ids of the
   * e-mail and of its domain.
   */
  address: (org: number, email: string): Key => ({
    pk: `ORG#${org}#ADDRESS#${beginning(email)}`,
    sk: email,
  }),
  /** Finds an e-mail by a word of its owner's name (monitoring/emails/search.ts). */
  ownerWord: (org: number, word: string, email: number): Key => ({
    pk: `ORG#${org}#OWNER-WORD#${beginning(word)}`,
    sk: `${word}#${padded(email)}`,
  }),
  /** A removed e-mail whose findings are still to be deleted. */
  removal: (org: number, email: number): Key => ({ pk: `ORG#${org}#REMOVAL`, sk: padded(email) }),
  /** A removed alert channel whose delivery history is still to be deleted. */
  channelRemoval: (org: number, channel: number): Key => ({
    pk: `ORG#${org}#CHANNEL-REMOVAL`,
    sk: padded(channel),
  }),
  /** One of the rows that count findings by month and by breach, and breached e-mails (counts/counts.ts). */
  counts: (org: number, row: string): Key => ({ pk: `ORG#${org}#COUNTS`, sk: row }),
  /** One of the rows that count what was detected on a day (UTC, `YYYY-MM-DD`; counts/news.ts). */
  news: (org: number, day: string, place: number): Key => ({ pk: `ORG#${org}#NEWS`, sk: `${day}#${place}` }),
  /** When findings of a breach were first and last detected, and who has it in hand (findings/breach-dates.ts). */
  breachDates: (org: number, breach: number): Key => ({ pk: `ORG#${org}#BREACH-DATES`, sk: padded(breach) }),
  /** The comments on a breach are numbered from 1 (findings/breach-triage.ts). */
  comment: (org: number, breach: number, number: number): Key => ({
    pk: `ORG#${org}#COMMENT`,
    sk: `${padded(breach)}#${padded(number)}`,
  }),
  /** What is to be done for one chunk of a scan: its changes, or how far its single look-ups are. */
  chunk: (org: number, scan: number, batch: number, chunk: string): Key => ({
    pk: `ORG#${org}#CHUNK#${scan}`,
    sk: `${batch}#${chunk}`,
  }),
  /** What happened that alerting has not dealt with yet (outbox/outbox.ts). */
  outbox: (org: number, name: string): Key => ({ pk: `ORG#${org}#OUTBOX`, sk: name }),
  /** The delivery that an alert channel gathers new breaches in, for a day or a week. */
  gathering: (org: number, channel: number): Key => ({
    pk: `ORG#${org}`,
    sk: `GATHERING#${padded(channel)}`,
  }),
  /** A chunk that is done, or that the scan's end counted as failed. Nothing more of it may be written. */
  closedChunk: (org: number, scan: number, batch: number, chunk: string): Key => ({
    pk: `ORG#${org}#CLOSED-CHUNK#${scan}`,
    sk: `${batch}#${chunk}`,
  }),
  /** A request to acknowledge or reopen many findings, or a breach whose findings follow its severity. */
  acknowledgement: (org: number, id: number): Key => ({ pk: `ORG#${org}#ACKNOWLEDGEMENT`, sk: padded(id) }),
  /** The request that is in progress; an organization has at most one. */
  acknowledgementLock: (org: number): Key => ({ pk: `ORG#${org}`, sk: "ACKNOWLEDGEMENT-LOCK" }),
  /** Findings that follow a change of a breach's severity: that they may have to, or that they are about to. */
  severityLock: (org: number): Key => ({ pk: `ORG#${org}`, sk: "SEVERITY-LOCK" }),
  /** Which rules end findings (findings/rules/switches.ts). */
  rules: (org: number): Key => ({ pk: `ORG#${org}`, sk: "RULES" }),
  /** What rules have to look at again: an e-mail, breaches, or everything (findings/rules/marks.ts). */
  ruleMark: (org: number, name: string): Key => ({ pk: `ORG#${org}#RULE-MARK`, sk: name }),
  /** Findings that rules end or open again: the request in progress. */
  rulesLock: (org: number): Key => ({ pk: `ORG#${org}`, sk: "RULES-LOCK" }),

  // What directories say of people (people/)
  /** One of at most five. Its partition is guarded, because the row holds the hash of its token. */
  connectedDirectory: (org: number, place: number): Key => ({
    pk: `ORG#${org}#CONNECTED-DIRECTORY`,
    sk: String(place),
  }),
  /** Keeps a user's name unique in its directory, without case. Holds the person's id. */
  personName: (org: number, directory: number, userName: string): Key => ({
    pk: `ORG#${org}#PERSON-NAME`,
    sk: `${padded(directory)}#${userName}`,
  }),
  /** Finds a person, or a group, by the id that its directory gives it. */
  externalId: (org: number, directory: number, kind: "PERSON" | "GROUP", name: string, id: number): Key => ({
    pk: `ORG#${org}#EXTERNAL-ID`,
    sk: `${kind}#${padded(directory)}#${name}#${padded(id)}`,
  }),
  /** Keeps a group's name unique in its directory, without case. Holds the group's id. */
  groupName: (org: number, directory: number, name: string): Key => ({
    pk: `ORG#${org}#GROUP-NAME`,
    sk: `${padded(directory)}#${name}`,
  }),
  groupMember: (org: number, group: number, person: number): Key => ({
    pk: `ORG#${org}#GROUP-MEMBER`,
    sk: `${padded(group)}#${padded(person)}`,
  }),
  /** What directories have made of an address so far (people/follow/address.ts). */
  namedAddress: (org: number, domain: string, email: string): Key => ({
    pk: `ORG#${org}#NAMED-ADDRESS`,
    sk: `${domain}#${email}`,
  }),
  /** That a person of a directory has an address, behind the row above. */
  naming: (org: number, domain: string, email: string, directory: number, person: number): Key => ({
    pk: `ORG#${org}#NAMED-ADDRESS`,
    sk: `${domain}#${email}#${padded(directory)}#${padded(person)}`,
  }),
  /** What is still to follow from a change in a directory (people/follow/task.ts). */
  directoryTask: (org: number, name: string): Key => ({ pk: `ORG#${org}#DIRECTORY-TASK`, sk: name }),
  /** The log entry of the minute, with what directories have changed so far. */
  directoryLog: (org: number): Key => ({ pk: `ORG#${org}`, sk: "DIRECTORY-LOG" }),
  /** How many addresses of a domain a directory names that nobody watches, as it is not verified here. */
  outsideDomain: (org: number, directory: number, domain: string): Key => ({
    pk: `ORG#${org}#OUTSIDE-DOMAIN`,
    sk: `${padded(directory)}#${domain}`,
  }),
  /** An address that waits for a seat, by when it began to. */
  seatWait: (org: number, since: string, email: string): Key => ({
    pk: `ORG#${org}#SEAT-WAIT`,
    sk: `${since}#${email}`,
  }),

  // Counted lists
  /** Counts the members of a block. */
  tally: (org: number, kind: ListKind, block: number): Key => ({
    pk: `ORG#${org}#${kind}`,
    sk: padded(block),
  }),
  member: (org: number, kind: ListKind, block: number, id: number): Key => ({
    pk: `ORG#${org}#${kind}#${block}`,
    sk: padded(id),
  }),

  // Rows of the whole deployment
  /** The domain, of whichever organization, that a DNS record has proved to be of this name. */
  provenDomain: (name: string): Key => ({ pk: `PROVEN-DOMAIN#${name}`, sk: "DOMAIN" }),
  /**
   * By address: the organizations that it is a user of, and as which user. Keeps the address unique among the
   * users of an organization who are not removed.
   */
  signInAddress: (email: string, org: number): Key => ({
    pk: `SIGN-IN-ADDRESS#${email}`,
    sk: padded(org),
  }),
  /**
   * The same by an account at the identity provider (access/sign-in/single-sign-on.ts). Keeps the account
   * unique in the same way.
   */
  signInIdentity: (identityId: string, org: number): Key => ({
    pk: `SIGN-IN-IDENTITY#${identityId}`,
    sk: padded(org),
  }),
  /** `hash` as of a session. */
  signInLink: (hash: string): Key => ({ pk: `SIGN-IN-LINK#${hash}`, sk: "LINK" }),
  /** An attempt to sign in by the identity provider, by the hash of its secret. */
  signInAttempt: (hash: string): Key => ({ pk: `PROVIDER-ATTEMPT#${hash}`, sk: "ATTEMPT" }),
  /** What a passkey is asked to sign, once. */
  passkeyChallenge: (challenge: string): Key => ({ pk: `SIGN-IN-CHALLENGE#${challenge}`, sk: "CHALLENGE" }),
  /** A message with a sign-in link that is still to be sent, if somebody has the address. */
  signInMail: (id: string): Key => ({ pk: `SIGN-IN-MAIL#${id}`, sk: "MAIL" }),
  /** A mail that tells of a change, and holds no secret (access/notices). */
  notice: (id: string): Key => ({ pk: `NOTICE#${id}`, sk: "MAIL" }),
  /** `id` tells apart what was done in one millisecond. */
  operatorEntry: (at: string, id: string): Key => ({ pk: "OPERATOR-LOG", sk: `${at}#${id}` }),
  counter: (kind: ListKind | CounterKind): Key => ({ pk: "COUNTER", sk: kind }),
  /** One small row for each organization: the list of all organizations. */
  organizations: (org: number): Key => ({ pk: "ORGANIZATIONS", sk: padded(org) }),
  breach: (id: number): Key => ({ pk: `BREACH#${id}`, sk: "BREACH" }),
  breachNames: (): Key => ({ pk: "CATALOG-NAMES", sk: "NAMES" }),
  /** In the partition of the state above. */
  breachName: (name: string): Key => ({ pk: "CATALOG-NAMES", sk: `NAME#${name}` }),
  subscription: (): Key => ({ pk: "UPSTREAM", sk: "SUBSCRIPTION" }),
  limiter: (): Key => ({ pk: "UPSTREAM", sk: "LIMITER" }),
  /** One window of a rate limit, which expires. `subject` is an address, a key or a bucket. */
  limit: (subject: string, window: string): Key => ({ pk: `LIMIT#${subject}`, sk: window }),
};

/**
 * The sparse, keys-only index of rows that are due at `dueAt` (ISO 8601): something must then be done about
 * them. Several shards for each kind keep an index partition from becoming hot.
 */
export const dueIndex = { name: "due", partition: "dueShard", sort: "dueAt" } as const;
export type DueKind =
  | "SCAN"
  | "SCAN-REQUEST"
  | "DELIVERY"
  | "OUTBOX"
  | "REMOVAL"
  | "CHANNEL-REMOVAL"
  | "DELETION"
  | "DOMAIN-PROOF"
  | "SIGN-IN-MAIL"
  | "ACKNOWLEDGEMENT"
  | "RULE-MARK"
  | "DIRECTORY";
const dueShards: Record<DueKind, number> = {
  SCAN: 4,
  "SCAN-REQUEST": 4,
  DELIVERY: 4,
  OUTBOX: 4,
  "DOMAIN-PROOF": 4,
  "SIGN-IN-MAIL": 4,
  "RULE-MARK": 4,
  DIRECTORY: 4,
  // Too rare to make an index partition hot.
  REMOVAL: 1,
  "CHANNEL-REMOVAL": 1,
  DELETION: 1,
  ACKNOWLEDGEMENT: 1,
};
export const dueShard = (kind: DueKind, id: number): string => `${kind}#${id % dueShards[kind]}`;
/** All partitions of the due index that can hold rows of a kind. */
export const dueShardsOf = (kind: DueKind): string[] =>
  Array.from({ length: dueShards[kind] }, (_, shard) => dueShard(kind, shard));

/**
 * The index of findings by breach: ids (numbers) in the partition of an organization and a breach, with the
 * group key of each. Eventually consistent, so that what it says has to be read again.
 */
export const breachIndex = { name: "breach", partition: "breachPartition", sort: "id" } as const;
export const breachPartition = (org: number, breach: number): string => `ORG#${org}#BREACH#${breach}`;

/** The organization that a key's `pk` names. NaN for rows of the whole deployment. */
export const organizationOf = (key: Key): number => Number(/^ORG#(\d+)/.exec(key.pk)?.[1]);

/**
 * The partitions of sessions and API keys of every organization, as a pattern of IAM. The authorizer may update
 * their rows, to note when each was last used.
 */
export const credentialPartitions = ["ORG#*#SESSION", "ORG#*#KEY"] as const;

/** The attributes that the authorizer may name in an update of such a row. It cannot make a credential. */
export const attributesOfUse = ["pk", "sk", "v", "lastUsedAt", "expiresAt"] as const;

/** The partition of connected directories, as a pattern of IAM, and the attributes that note the use of one. */
export const directoryPartitions = ["ORG#*#CONNECTED-DIRECTORY"] as const;
export const attributesOfDirectoryUse = ["pk", "sk", "v", "lastUsedAt"] as const;

/** The partitions of the recipients of alerts, as a pattern of IAM, and the attributes of what recipients say. */
export const recipientPartitions = ["ORG#*#RECIPIENT"] as const;
export const attributesOfConsent = ["pk", "sk", "v", "secret", "consent"] as const;

/** Attributes of an organization's row that operators alone write: no function names them in a write. */
export const attributesOfOperators = ["billing", "mailBudget", "signIn", "sessionHours"] as const;

/**
 * The partitions of rows with such attributes, which functions update: whoever put such a row anew would
 * write these too.
 */
export const partitionsOfOperators = ["ORG#*#ORGANIZATION"] as const;

/** Attributes of a domain's row with which it would be another verified domain. */
export const attributesOfVerification = ["name", "verified", "verifiedBy"] as const;

/** The partitions of monitored e-mails, as a pattern of IAM. */
export const emailPartitions = ["ORG#*#EMAIL#*"] as const;

/**
 * The partitions of rows that decide who may do what and where alerts go. They are patterns of IAM, by the
 * words of `uses` that let a function write them. No function writes the operators' log.
 */
export const guardedPartitions = {
  "table:write:identities": ["ORG#*#KEY", "ORG#*#SESSION", "ORG#*#USER", "SIGN-IN-*", "NOTICE#*"],
  "table:write:directories": directoryPartitions,
  "table:write:organizations": ["ORG#*#ORGANIZATION", "ORGANIZATIONS"],
  "table:write:domains": ["ORG#*#DOMAIN", "ORG#*#DOMAIN-NAME", "ORG#*#DOMAIN-REMOVAL", "PROVEN-DOMAIN#*"],
  "table:write:channels": ["ORG#*#CHANNEL", "NOTICE#*"],
  operators: ["OPERATOR-LOG"],
} as const;

/** The attribute with the epoch seconds after which DynamoDB may delete the row, sooner or later. */
export const timeToLive = "expiresAt";
