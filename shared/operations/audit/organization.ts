/** Compares the rows of an organization that belong to no list. */
import * as channels from "../../alerting/channels/channel.ts";
import { exists } from "../../aws/table/condition.ts";
import { dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";
import type { Context } from "./list.ts";
import { compareAcknowledgements, compareScanLock } from "./locks.ts";
import { compareAllNames } from "./names.ts";

/** Audits all of them; gives how many rows of each kind there are. `openScans`: ids of scans that were in progress. */
export const auditOrganization = async (
  { org, inspector }: Context,
  openScans: readonly number[],
): Promise<{ domains: number; channels: number; removals: number; acknowledgements: number }> => {
  const rowsOf = async (key: Key): Promise<number> =>
    (await table.query({ pk: key.pk, project: ["pk"] })).length;
  await inspector.check(() => compareCounters(org));
  await inspector.check(() => compareAllNames(org));
  await inspector.check(() => compareRemovals(org));
  await inspector.check(() => compareScanLock(org, openScans));
  await inspector.check(() => compareAcknowledgements(org));
  return {
    domains: (await domains.list(org)).length,
    channels: (await channels.list(org)).length,
    removals: (await rowsOf(keys.removal(org, 0))) + (await rowsOf(keys.channelRemoval(org, 0))),
    acknowledgements: await rowsOf(keys.acknowledgement(org, 0)),
  };
};

/** The organization must be in the list of all; its channels must be counted, for the limit of 20. */
const compareCounters = async (org: number): Promise<Problem[]> => {
  const fixed = [keys.organizations(org), keys.channelCount(org)];
  const [index, channelCount] = await table.getMany(fixed);
  const isThere = { check: keys.organization(org), if: exists };
  return [
    ...(await compare(
      { kind: "organization", id: org },
      {
        key: keys.organizations(org),
        row: index,
        holds: { id: org },
        given: [isThere],
        says: "it is missing in the list of organizations",
      },
    )),
    ...(await compare(
      { kind: "channel count", id: org },
      {
        key: keys.channelCount(org),
        row: channelCount,
        holds: { channels: (await channels.list(org)).length },
      },
    )),
  ];
};

/** The seats that are counted must be the active e-mails of the directory. */
export const compareSeats = async (org: number): Promise<Problem[]> => {
  const key = keys.seats(org);
  const row = await table.get(key);
  const active = emails.sum(await emails.directory(org), ({ isActive }) => isActive);
  return compare({ kind: "seats", id: org }, { key, row, holds: { active } });
};

/** A removal of an e-mail or a channel must be due, and an e-mail that exists must have none. */
const compareRemovals = async (org: number): Promise<Problem[]> => {
  const problems: Problem[] = [];
  for (const [kind, keyOf, due] of [
    ["removal", keys.removal, "REMOVAL"],
    ["channel removal", keys.channelRemoval, "CHANNEL-REMOVAL"],
  ] as const) {
    for (const row of await table.query<Key & { dueAt?: string }>({ pk: keyOf(org, 0).pk })) {
      const id = Number(row.sk);
      const subject = { kind, id };
      const key = keyOf(org, id);
      problems.push(...(await compareDue(subject, { key, row, shard: dueShard(due, id) })));
      if (kind === "channel removal" || (await emails.get(org, id)) === undefined) continue;
      const given = [{ check: emails.key(org, id), if: exists }];
      const says = "the e-mail is there although it is being removed";
      problems.push(...(await compare(subject, { key, row, holds: "no row", given, says })));
    }
  }
  const key = keys.scanRequest(org);
  const row = await table.get<{ dueAt?: string }>(key);
  const subject = { kind: "scan request", id: org };
  return row === undefined
    ? problems
    : [...problems, ...(await compareDue(subject, { key, row, shard: dueShard("SCAN-REQUEST", org) }))];
};
