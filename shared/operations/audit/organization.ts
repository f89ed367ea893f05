import { membership } from "../../access/members/membership.ts";
import * as users from "../../access/members/user.ts";
import * as channels from "../../alerting/channels/channel.ts";
import { absent, asRead, exists } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { auditAcknowledgements } from "./acknowledgement.ts";
import { inspectProof } from "./domain-proof.ts";
import { inspectDue } from "./due-index.ts";
import { changedDuringRead, type Inspection, type Inspector, type Problem } from "./inspector.ts";
import { inspectRemovedUser, inspectSignInAddress } from "./sign-in-address.ts";
import { domainNames, inspectNamed, inspectNameRow, teamNames, userAddresses } from "./unique-name.ts";

/**
 * Audits the rows of an organization that belong to no list, and returns how many rows of each kind were
 * read. `activeExcess`: by how much the directory of the e-mails exceeds the active e-mails.
 */
export const auditOrganization = async (
  org: number,
  inspector: Inspector,
  { activeExcess }: { activeExcess: number },
): Promise<{ domains: number; channels: number; removals: number; acknowledgements: number }> => {
  const { inspect } = inspector;
  await inspect({ kind: "organization", id: org }, inspectIndexRow(org));
  await inspect({ kind: "seats", id: org }, inspectSeats(org, activeExcess));
  await inspect({ kind: "members", id: org }, inspectMembership(org));
  await inspect({ kind: "channel count", id: org }, inspectChannelCount(org));
  const domainCount = await auditNames(org, inspector);
  await auditSignInAddresses(org, inspector);
  const removals = await auditRemovals(org, inspector);
  await inspect({ kind: "scan lock", id: org }, inspectDue("SCAN", org, keys.scanLock(org)));
  await inspect({ kind: "scan request", id: org }, inspectDue("SCAN-REQUEST", org, keys.scanRequest(org)));
  const acknowledgements = await auditAcknowledgements(org, inspector);
  return { domains: domainCount, channels: (await channels.list(org)).length, removals, acknowledgements };
};

/** Audits the names of domains, teams and the addresses of users, and whose domains are proved; gives the number of domains. */
const auditNames = async (org: number, { inspect, inspectAll }: Inspector): Promise<number> => {
  const allDomains = await domains.list(org);
  for (const [kind, names, all] of [
    ["domain", domainNames(org), allDomains],
    ["team", teamNames(org), await teams.list(org)],
    ["user", userAddresses(org), await users.list(org)],
  ] as const) {
    const nameRows = await table.query<Key & { id: number }>({ pk: names.nameRow("").pk });
    await inspectAll(
      kind,
      all.map(({ id }) => id),
      inspectNamed(names),
    );
    for (const { sk, id } of nameRows) await inspect({ kind: `${kind} name`, id }, inspectNameRow(names, sk));
  }
  await inspectAll(
    "domain proof",
    allDomains.map(({ id }) => id),
    inspectProof(org),
  );
  return allDomains.length;
};

const auditSignInAddresses = async (org: number, { inspectAll }: Inspector): Promise<void> => {
  const { members, removed } = await membership(org);
  await inspectAll("user", [...members], inspectSignInAddress(org));
  await inspectAll("user", [...removed], inspectRemovedUser(org));
};

/** Audits the removals of e-mails and channels; gives their number. */
const auditRemovals = async (org: number, { inspect }: Inspector): Promise<number> => {
  const removals = await table.query<Key>({ pk: keys.removal(org, 0).pk, project: ["pk", "sk"] });
  for (const { pk, sk } of removals) {
    const id = Number(sk);
    await inspect({ kind: "removal", id }, inspectRemoval(org, id));
    await inspect({ kind: "removal", id }, inspectDue("REMOVAL", id, { pk, sk }));
  }
  const channelRemovals = await table.query<Key>({ pk: keys.channelRemoval(org, 0).pk });
  for (const { pk, sk } of channelRemovals) {
    const id = Number(sk);
    await inspect({ kind: "channel removal", id }, inspectDue("CHANNEL-REMOVAL", id, { pk, sk }));
  }
  return removals.length + channelRemovals.length;
};

/** The list of all organizations must name this one. */
const inspectIndexRow =
  (org: number): Inspection<Problem> =>
  async () => {
    if ((await table.get(keys.organizations(org))) !== undefined) return undefined;
    return {
      says: "it is missing in the list of organizations",
      repair: () =>
        table.transact([
          { check: keys.organization(org), if: exists },
          { put: { ...keys.organizations(org), id: org }, if: absent },
        ]),
    };
  };

/** The seats that are counted must be the active e-mails. */
const inspectSeats =
  (org: number, activeExcess: number): Inspection<Problem> =>
  async () => {
    const before = await table.get<{ active?: number }>(keys.seats(org));
    const directory = await emails.directory(org);
    const after = await table.get<{ active?: number }>(keys.seats(org));
    const should = emails.sum(directory, (group) => group.isActive) - activeExcess;
    if ((after?.active ?? 0) === should) return undefined;
    if (before?.active !== after?.active) return changedDuringRead;
    return wrongCount(keys.seats(org), "active", after?.active, should, "active e-mails");
  };

/** The alert channels that are counted, for the limit of 20, must be those that exist. */
const inspectChannelCount =
  (org: number): Inspection<Problem> =>
  async () => {
    const before = await table.get<{ channels?: number }>(keys.channelCount(org));
    const should = (await channels.list(org)).length;
    const after = await table.get<{ channels?: number }>(keys.channelCount(org));
    if ((after?.channels ?? 0) === should) return undefined;
    if (before?.channels !== after?.channels) return changedDuringRead;
    return wrongCount(keys.channelCount(org), "channels", after?.channels, should, "alert channels");
  };

const wrongCount = (
  key: Key,
  attribute: string,
  actual: number | undefined,
  should: number,
  what: string,
): Problem => ({
  says: `${actual ?? 0} ${what} are counted, there are ${should}`,
  repair: async () => {
    await table.update(key, { set: { [attribute]: should }, if: asRead({ [attribute]: actual }) });
  },
});

/** The sets of member ids must be those of the user rows. */
const inspectMembership =
  (org: number): Inspection<Problem> =>
  async () => {
    const row = await table.get<{ members?: Set<number>; removed?: Set<number> }>(keys.membership(org));
    const all = await table.query<users.User>({ pk: keys.user(org, 0).pk });
    const should = {
      members: all.filter((user) => !user.removed).map(({ id }) => id),
      removed: all.filter((user) => user.removed).map(({ id }) => id),
    };
    const { members, removed } = await membership(org);
    if (isSameSet(members, should.members) && isSameSet(removed, should.removed)) return undefined;
    const wrong = [
      ...should.members.filter((id) => !members.has(id) || removed.has(id)),
      ...should.removed.filter((id) => !removed.has(id) || members.has(id)),
      ...[...members, ...removed].filter((id) => !all.some((user) => user.id === id)),
    ];
    return {
      says: `the sets of members and removed members are wrong about users ${[...new Set(wrong)].sort((a, b) => a - b).join(",")}`,
      repair: async () => {
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

const isSameSet = (one: ReadonlySet<number>, other: readonly number[]): boolean =>
  one.size === other.length && other.every((id) => one.has(id));

/** The removal of an e-mail lists what is still to be deleted; an e-mail that exists must have no removal. */
const inspectRemoval =
  (org: number, id: number): Inspection<Problem> =>
  async () => {
    const key = keys.removal(org, id);
    if ((await emails.get(org, id)) === undefined) return undefined;
    const removal = await table.get<{ findings: number[] }>(key);
    if (removal === undefined) return undefined;
    return {
      says: "the e-mail is there although it is being removed",
      repair: () =>
        table.transact([
          { check: emails.key(org, id), if: exists },
          { delete: key, if: asRead({ findings: removal.findings }) },
        ]),
    };
  };
