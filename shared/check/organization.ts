import * as channels from "../alerts/channel.ts";
import { emails } from "../emails/record.ts";
import * as domains from "../organizations/domain.ts";
import * as users from "../organizations/user.ts";
import { absent, exists, type Write } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { asRead, type Examination, type Found, type Look, moving } from "./difference.ts";
import { lookAtDue } from "./due.ts";

/** Rows of an organization beside its lists; `activeExcess`: active e-mails that their directory counts too many. */
export const checkOrganization = async (
  org: number,
  { examine, examineAll }: Examination,
  { activeExcess }: { activeExcess: number },
): Promise<{ domains: number; channels: number; removals: number }> => {
  await examine({ kind: "organization", id: org }, lookAtIndexRow(org));
  await examine({ kind: "seats", id: org }, lookAtSeats(org, activeExcess));
  await examine({ kind: "members", id: org }, lookAtMembership(org));
  await examine({ kind: "channel count", id: org }, lookAtChannelCount(org));

  const allDomains = await domains.list(org);
  for (const [kind, unique, all] of [
    ["domain", domainsOf(org), allDomains],
    ["user", usersOf(org), await users.list(org)],
  ] as const) {
    const names = await table.query<Key & { id: number }>({ pk: unique.rowOf("").pk });
    await examineAll(
      kind,
      all.map(({ id }) => id),
      lookAtNamed(unique),
    );
    for (const { sk, id } of names) await examine({ kind: `${kind} name`, id }, lookAtName(unique, sk));
  }

  const removals = await table.query<Key>({ pk: keys.removal(org, 0).pk, project: ["pk", "sk"] });
  for (const { pk, sk } of removals) {
    const id = Number(sk);
    await examine({ kind: "removal", id }, lookAtRemoval(org, id));
    await examine({ kind: "removal", id }, lookAtDue("REMOVAL", id, { pk, sk }));
  }
  const channelRemovals = await table.query<Key>({ pk: keys.channelRemoval(org, 0).pk });
  for (const { pk, sk } of channelRemovals) {
    const id = Number(sk);
    await examine({ kind: "channel removal", id }, lookAtDue("CHANNEL-REMOVAL", id, { pk, sk }));
  }
  for (const [kind, key] of [
    ["SCAN", keys.scanLock(org)],
    ["SCAN-REQUEST", keys.scanRequest(org)],
  ] as const) {
    await examine(
      { kind: kind === "SCAN" ? "scan lock" : "scan request", id: org },
      lookAtDue(kind, org, key),
    );
  }
  return {
    domains: allDomains.length,
    channels: (await channels.list(org)).length,
    removals: removals.length + channelRemovals.length,
  };
};

const lookAtIndexRow =
  (org: number): Look<Found> =>
  async () => {
    if ((await table.get(keys.organizations(org))) !== undefined) return undefined;
    return {
      says: "it is missing in the list of organizations",
      mend: () =>
        table.transact([
          { check: keys.organization(org), if: exists },
          { put: { ...keys.organizations(org), id: org }, if: absent },
        ]),
    };
  };

const lookAtSeats =
  (org: number, activeExcess: number): Look<Found> =>
  async () => {
    const before = await table.get<{ active?: number }>(keys.seats(org));
    const directory = await emails.directory(org);
    const after = await table.get<{ active?: number }>(keys.seats(org));
    const should = emails.sum(directory, (facet) => facet.isActive) - activeExcess;
    if ((after?.active ?? 0) === should) return undefined;
    if (before?.active !== after?.active) return moving;
    return countOf("active", after?.active, should, keys.seats(org), "active e-mails");
  };

const lookAtChannelCount =
  (org: number): Look<Found> =>
  async () => {
    const before = await table.get<{ channels?: number }>(keys.channelCount(org));
    const should = (await channels.list(org)).length;
    const after = await table.get<{ channels?: number }>(keys.channelCount(org));
    if ((after?.channels ?? 0) === should) return undefined;
    if (before?.channels !== after?.channels) return moving;
    return countOf("channels", after?.channels, should, keys.channelCount(org), "alert channels");
  };

const countOf = (name: string, is: number | undefined, should: number, key: Key, what: string): Found => ({
  says: `${is ?? 0} ${what} are counted, there are ${should}`,
  mend: async () => {
    await table.update(key, { set: { [name]: should }, if: asRead({ [name]: is }) });
  },
});

const lookAtMembership =
  (org: number): Look<Found> =>
  async () => {
    const row = await table.get<{ members?: Set<number>; removed?: Set<number> }>(keys.membership(org));
    const all = await table.query<users.User>({ pk: keys.user(org, 0).pk });
    const should = {
      members: all.filter((user) => !user.removed).map(({ id }) => id),
      removed: all.filter((user) => user.removed).map(({ id }) => id),
    };
    const { members, removed } = await users.membership(org);
    if (isSame(members, should.members) && isSame(removed, should.removed)) return undefined;
    const wrong = [
      ...should.members.filter((id) => !members.has(id) || removed.has(id)),
      ...should.removed.filter((id) => !removed.has(id) || members.has(id)),
      ...[...members, ...removed].filter((id) => !all.some((user) => user.id === id)),
    ];
    return {
      says: `who is, or was, a member is wrong of users ${[...new Set(wrong)].sort((a, b) => a - b).join(",")}`,
      mend: async () => {
        const sets = Object.entries(should);
        await table.update(keys.membership(org), {
          set: Object.fromEntries(
            sets.filter(([, ids]) => ids.length > 0).map(([name, ids]) => [name, new Set(ids)]),
          ),
          remove: sets.filter(([, ids]) => ids.length === 0).map(([name]) => name),
          if: asRead({ members: row?.members, removed: row?.removed }),
        });
      },
    };
  };

const isSame = (one: ReadonlySet<number>, other: readonly number[]): boolean =>
  one.size === other.length && other.every((id) => one.has(id));

/** Things whose names are unique by a row for each name, which holds the id. */
type Unique = {
  /** Undefined when it is not there. */
  nameOf: (id: number) => Promise<string | undefined>;
  /** For a transaction: it is there. */
  isThere: (id: number) => Write;
  rowOf: (name: string) => Key;
  /** When two have one name. */
  advice: (one: number, other: number) => string;
};

const domainsOf = (org: number): Unique => ({
  nameOf: async (id) => (await domains.get(org, id))?.name,
  isThere: (id) => ({ check: keys.domain(org, id), if: exists }),
  rowOf: (name) => keys.domainName(org, name),
  advice: (one, other) =>
    `Domains ${one} and ${other} have one name: use one of them, and remove the e-mails of the other.`,
});

const usersOf = (org: number): Unique => ({
  nameOf: async (id) => {
    const user = await users.get(org, id);
    return user === undefined || user.removed ? undefined : user.email;
  },
  isThere: (id) => ({ check: keys.user(org, id), if: users.notRemoved }),
  rowOf: (email) => keys.userEmail(org, email),
  advice: (one, other) => `Users ${one} and ${other} have one address: remove one of them.`,
});

/** The row of a thing's name names it. */
const lookAtNamed =
  ({ nameOf, isThere, rowOf, advice }: Unique) =>
  (id: number): Look<Found> =>
  async () => {
    const name = await nameOf(id);
    if (name === undefined) return undefined;
    const key = rowOf(name);
    const named = await table.get<{ id: number }>(key);
    if (named?.id === id) return undefined;
    if (named === undefined) {
      return {
        says: "its name row is not there",
        mend: () => table.transact([isThere(id), { put: { ...key, id }, if: absent }]),
      };
    }
    const says = `its name row names ${named.id}`;
    if ((await nameOf(named.id)) === name) return { says, advice: advice(named.id, id) };
    return {
      says,
      mend: () => table.transact([isThere(id), { update: key, set: { id }, if: asRead({ id: named.id }) }]),
    };
  };

/** What a name row names is there and has that name. */
const lookAtName =
  ({ nameOf, rowOf }: Unique, name: string): Look<Found> =>
  async () => {
    const key = rowOf(name);
    const named = await table.get<{ id: number }>(key);
    if (named === undefined) return undefined;
    const is = await nameOf(named.id);
    if (is === name) return undefined;
    return {
      says: `a name row names ${named.id}, which ${is === undefined ? "is not there" : "has another name"}`,
      mend: () => table.remove(key, asRead({ id: named.id })),
    };
  };

/** What is left of a removed e-mail is to be deleted; of one that is there nothing is. */
const lookAtRemoval =
  (org: number, id: number): Look<Found> =>
  async () => {
    const key = keys.removal(org, id);
    if ((await emails.get(org, id)) === undefined) return undefined;
    const removal = await table.get<{ findings: number[] }>(key);
    if (removal === undefined) return undefined;
    return {
      says: "the e-mail is there although it is being removed",
      mend: () =>
        table.transact([
          { check: emails.key(org, id), if: exists },
          { delete: key, if: asRead({ findings: removal.findings }) },
        ]),
    };
  };
