/**
 * The catalog of breaches: our copy of HIBP's list. HIBP's name of a breach is permanent, and gets an integer
 * id of ours once.
 *
 * A row for each name holds the breach's id, title, domain, severity, and a hash of all that HIBP lists. A
 * row for each id holds the details (breach-details.ts). A state row holds the digest of the whole list, so
 * that a sync without news reads one row. A breach that vanishes from HIBP's list keeps its last details.
 */
import { createHash, randomUUID } from "node:crypto";
import { chunk } from "../aws/table/chunk.ts";
import { absent, condition, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { drawId } from "../lists/blocks.ts";
import { type Breach, type BreachDetails, breachOf } from "./breach.ts";
import { type NameRow, readNames, type State, stateKey } from "./breach-details.ts";
import { breaches, malformed, UpstreamFailure } from "./hibp.ts";
import { levelOf, topicOf } from "./severity.ts";
import type { Waiting } from "./subscription.ts";
import { rate } from "./subscription-state.ts";
import { withUpstream } from "./upstream.ts";

/**
 * Ids of breaches, and their data classes that no severity is known of. `forRules`: the breaches that rules may
 * judge in another way now. `isBaseline` says that no earlier sync has completed.
 */
export type News = {
  added: number[];
  changed: number[];
  forRules: number[];
  unknownDataClasses: string[];
  isBaseline: boolean;
};

type Entry = { details: BreachDetails; hash: string };
type Listed = Map<string, Entry>;

/** DynamoDB's quota for one transaction. */
const maxTransactionKibibytes = 4 * 1024;
/** The longest texts and data classes of a breach (breach.ts) in characters of three bytes. */
const maxBreachKibibytes = 91;
/**
 * Half of what the quota takes. Two writes for each breach and one check stay within
 * `table.maxTransactionWrites`.
 */
const breachesPerTransaction = Math.floor(maxTransactionKibibytes / maxBreachKibibytes / 2);
const defaultWaitSeconds = 60;

/**
 * A sync that a new breach caused, and that failed, is tried again after this time; by then its function has
 * ended.
 */
const retrySeconds = 120;

/**
 * Whether a sync is due, which then counts as begun: nobody has asked for the whole list for `everySeconds`, or
 * HIBP's latest breach is not known. Undefined: HIBP did not say which one it is.
 */
export const takeTurn = async (latest: BreachDetails | undefined, everySeconds: number): Promise<boolean> => {
  const [state, known] = await table.getMany<State & NameRow>(
    [stateKey(), ...(latest === undefined ? [] : [keys.breachName(latest.name)])],
    { consistent: false },
  );
  const { at, latest: latestThen } = state?.asked ?? { at: 0 };
  const isNew = latest !== undefined && known?.hash === undefined;
  const retry = latest?.name === latestThen ? retrySeconds : 0;
  const pauseSeconds = isNew ? Math.min(retry, everySeconds) : everySeconds;
  const now = new Date();
  if (now.getTime() - new Date(at).getTime() < 1_000 * pauseSeconds) return false;
  await table.update(stateKey(), { set: { asked: { at: now.toISOString(), latest: latest?.name } } });
  return true;
};

/**
 * Brings the catalog up to date with HIBP's list. `latest` is added to the list where a cache between HIBP
 * and us still gives the list without it. Calls `announce` with the news, if there are any, before it records
 * them as known: a crash can repeat an announcement but never lose one.
 * @throws UpstreamFailure; the catalog then stays as it is.
 */
export const sync = async (
  announce: (news: News) => Promise<void> = async () => {},
  { waitSeconds = defaultWaitSeconds, latest }: Waiting & { latest?: BreachDetails | undefined } = {},
): Promise<News> => {
  const listed = await fetchList(waitSeconds);
  if (latest !== undefined && !listed.has(latest.name)) listed.set(latest.name, entryOf(latest));
  const digest = digestOf(listed);
  const state = await table.get<State>(stateKey());
  const news: News = {
    added: [],
    changed: [],
    forRules: [],
    unknownDataClasses: [],
    isBaseline: state?.digest === undefined,
  };
  // When the tokens differ, a sync broke off and may have written details that differ from this list.
  if (state?.digest === digest && state.recorded?.token === state.token) return news;

  const token = randomUUID();
  await table.update(stateKey(), { set: { token } });
  const rows = new Map<string, Pick<NameRow, "id" | "hash">>(await readNames());
  const unknown = [...listed].filter(([name]) => !rows.has(name));
  for (const [name, id] of await mint(unknown.map(([, { details }]) => details))) rows.set(name, { id });

  const outdated: { id: number; hash: string; details: BreachDetails }[] = [];
  for (const [name, { details, hash }] of listed) {
    const row = rows.get(name);
    if (row === undefined || row.hash === hash) continue;
    (row.hash === undefined ? news.added : news.changed).push(row.id);
    outdated.push({ id: row.id, hash, details });
  }
  const dataClasses = new Set(outdated.flatMap(({ details }) => details.dataClasses));
  news.unknownDataClasses = [...dataClasses].filter((each) => topicOf(each) === undefined);
  if (outdated.length > 0) {
    const before = await table.getMany<Breach>(outdated.map(({ id }) => keys.breach(id)));
    news.forRules = outdated
      .filter(({ details }, index) => factsOf(details) !== factsOf(before[index]))
      .map(({ id }) => id);
    await announce(news);
  }
  // A failed condition means that a later sync has begun. That sync announces again all that this one has not
  // recorded.
  await table.attempt(record(outdated, digest, token));
  return news;
};

/** What rules read of a breach (findings/rules/rule.ts), as a text. */
const factsOf = (breach: BreachDetails | undefined): string =>
  JSON.stringify([
    breach?.breachDate,
    breach?.severity,
    breach?.dataClasses.toSorted(),
    [breach?.isStealerLog, breach?.isMalware, breach?.isSpamList, breach?.isFabricated, breach?.isVerified],
  ]);

/**
 * How many breaches an answer may name that are not in HIBP's list yet. More are surely a mistake. The
 * catalog would keep each name for good and make findings of it.
 */
const maximumUnlisted = 100;

/**
 * name → id of all these names. A new name gets its id here, and the details that HIBP lists; when HIBP does
 * not answer, its name is its title until the next sync. In both cases the next sync announces it as new.
 * `callSeconds` limits how long HIBP's answer may take (default 60).
 * @throws UpstreamFailure when more than a hundred names are not in HIBP's list.
 */
export const idsFor = async (
  names: Iterable<string>,
  { waitSeconds = defaultWaitSeconds, callSeconds }: Waiting & { callSeconds?: number } = {},
): Promise<Map<string, number>> => {
  const wanted = [...new Set(names)];
  if (wanted.some((name) => !knownIds.has(name)))
    for (const [name, { id }] of await readNames()) knownIds.set(name, id);
  const unknown = wanted.filter((name) => !knownIds.has(name));
  if (unknown.length > 0) {
    const listed = await fetchList(waitSeconds, callSeconds).catch((error: unknown): Listed => {
      if (error instanceof UpstreamFailure && unknown.length <= maximumUnlisted) return new Map();
      throw error;
    });
    if (unknown.filter((name) => !listed.has(name)).length > maximumUnlisted) throw malformed("breaches");
    const minted = await mint(unknown.map((name) => listed.get(name)?.details ?? breachOf({ name })));
    for (const [name, id] of minted) knownIds.set(name, id);
  }
  return new Map(wanted.map((name) => [name, knownIds.get(name) as number]));
};

/** The ids that this process has read. They never change. */
const knownIds = new Map<string, number>();

const fetchList = async (waitSeconds: number, callSeconds?: number): Promise<Listed> => {
  const list = await withUpstream(await rate(), () => breaches(callSeconds), { waitSeconds });
  return new Map(list.map((breach) => [breach.name, entryOf(breach)]));
};

/** What a sync compares of a breach. */
export const entryOf = (details: BreachDetails): Entry => ({
  details,
  hash: hashOf(JSON.stringify(details)),
});

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

/** A digest of the list that does not depend on its order. */
export const digestOf = (listed: Listed): string =>
  hashOf(JSON.stringify([...listed].map(([name, { hash }]) => [name, hash]).sort()));

/** name → id of these breaches. New names get an id; concurrent calls agree on it. */
const mint = async (list: readonly BreachDetails[]): Promise<Map<string, number>> => {
  const minted = new Map<string, number>();
  const mintBatch = async (batch: readonly BreachDetails[]): Promise<void> => {
    const rows = await table.getMany<NameRow>(batch.map(({ name }) => keys.breachName(name)));
    const ids = await Promise.all(rows.map((row) => row?.id ?? drawId("BREACH")));
    const breaches = batch.map((details, index) => ({ ...details, id: ids[index] as number }));
    const writes = breaches
      .filter((_, index) => rows[index] === undefined)
      .flatMap(({ id, ...details }): Write[] => [
        { put: { ...keys.breachName(details.name), id, ...namedBy(details) }, if: absent },
        { put: { ...keys.breach(id), ...details, id } },
      ]);
    if (writes.length > 0) await table.transact(writes);
    for (const { name, id } of breaches) minted.set(name, id);
  };
  for (const batch of chunk(list, breachesPerTransaction)) {
    // Refused: another process has minted one of the names, whose row has the id.
    await withOptimisticRetry(() => mintBatch(batch));
  }
  return minted;
};

/** What the row of a name says of its breach. */
export const namedBy = ({ title, domain, severity, breachDate }: BreachDetails) => ({
  title,
  domain,
  level: levelOf(severity),
  breachDate,
});

/**
 * Records details together with their hashes, then the digest of the whole list. Throws `TransactionRefused`
 * or `ConditionFailed` as soon as a later sync has begun.
 */
const record = async (
  outdated: readonly { id: number; hash: string; details: BreachDetails }[],
  digest: string,
  token: string,
): Promise<void> => {
  const isLatestSync = condition("#token = :token", { token });
  for (const batch of chunk(outdated, breachesPerTransaction)) {
    await table.transact([
      { check: stateKey(), if: isLatestSync },
      ...batch.flatMap(({ id, hash, details }): Write[] => [
        { put: { ...keys.breach(id), ...details, id } },
        { update: keys.breachName(details.name), set: { hash, ...namedBy(details) } },
      ]),
    ]);
  }
  await table.update(stateKey(), {
    set: { digest, recorded: { token, at: new Date().toISOString() } },
    if: isLatestSync,
  });
};
