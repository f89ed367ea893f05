/** Everything about an organization except secrets, which it may ask for and take elsewhere. */
import { entries } from "../../access/activity/activity.ts";
import * as apiKeys from "../../access/keys/api-key.ts";
import type { User } from "../../access/members/user.ts";
import type { Organization } from "../../access/organizations/organization.ts";
import * as sessions from "../../access/sessions/session.ts";
import * as channels from "../../alerting/channels/channel.ts";
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import type { Recipient } from "../../alerting/kinds/email/recipient.ts";
import type { Item } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as breachDates from "../../findings/breach-dates.ts";
import type { CommentRow } from "../../findings/breach-triage.ts";
import { findings } from "../../findings/record.ts";
import { details } from "../../hibp/breach-details.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { everyIn, idOf } from "../../monitoring/unwatched/record.ts";
import * as unwatched from "../../monitoring/unwatched/store.ts";
import * as directories from "../../people/directory.ts";
import { groups } from "../../people/group.ts";
import { people } from "../../people/person.ts";
import { scans } from "../../scanning/record.ts";

/** One line of the export. `kind` says what it is; the rest are its fields. */
export type Line = { kind: string } & Item;

/** Attributes of rows that only the service needs. */
const internal = [
  "pk",
  "sk",
  "group",
  "breachPartition",
  "dueShard",
  "dueAt",
  "lease",
  "reached",
  "proofToken",
  "remaining",
  "planState",
  "planReason",
  "outcomes",
  "identityId",
  "formerMailboxes",
];

const line = (kind: string, row: Item): Line => ({
  kind,
  ...Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => !internal.includes(name) && value !== undefined)
      .map(([name, value]) => [name, value instanceof Set ? [...value] : value]),
  ),
});

/** The members of these lists, each with the fields of its group. */
const lists = {
  email: emails,
  finding: findings,
  scan: scans,
  activity: entries,
  delivery: deliveries,
  person: people,
  group: groups,
} as const;

/** Every line, block by block. Takes the memory of a block, and of the unwatched addresses of one domain. */
export async function* exportLines(organization: Organization): AsyncGenerator<Line[], void, undefined> {
  const { id: org } = organization;
  yield [line("organization", organization)];
  const allDomains = await domains.list(org);
  yield allDomains.map(({ id, name: domain, verified, verifiedAt, createdAt: at }) =>
    line("domain", { id, name: domain, verified, verifiedAt, createdAt: at }),
  );
  yield (await teams.list(org)).map(({ id, name: team, createdAt: at }) =>
    line("team", { id, name: team, createdAt: at }),
  );
  const users = await table.query<User & Item>({ pk: keys.user(org, 0).pk });
  yield users.map((row) => line("user", row));
  yield (await sessions.list(org, new Date())).map((row) => line("session", row));
  yield (await apiKeys.list(org)).map((row) => line("api_key", row));
  yield (await directories.rows(org)).map(({ hash: _, ...row }) => line("connected_directory", row));
  yield (await channels.list(org)).map((row) =>
    line("alert_channel", { ...channels.shown(org, row), ...channels.optionsOf(row) }),
  );
  const recipients = await table.query<Recipient & Item>({ pk: keys.recipient(org, "").pk });
  yield recipients.map(({ secret: _, ...row }) => line("recipient", row));
  yield (await table.query<Item>({ pk: keys.acknowledgement(org, 0).pk })).map((row) =>
    line("acknowledgement", row),
  );
  const breachIds = new Set<number>();
  const assigned = [...(await breachDates.readRows(org))].filter(
    ([, { assignee }]) => assignee !== undefined,
  );
  yield assigned.map(([breachId, { assignee }]) => line("breach_assignee", { breachId, userId: assignee }));
  for await (const comments of table.queryPages<CommentRow & Item>({ pk: keys.comment(org, 0, 0).pk })) {
    for (const { breachId } of comments) breachIds.add(breachId);
    yield comments.map((row) => line("comment", row));
  }
  for (const [breachId] of assigned) breachIds.add(breachId);
  for (const [kind, list] of Object.entries(lists)) {
    for await (const members of list.membersOf(org, list.blocks(await list.tally(org)))) {
      for (const { breachId } of members as { breachId?: number }[])
        if (breachId !== undefined) breachIds.add(breachId);
      yield members.map((row) => line(kind, { ...list.groupOf(row), ...row }));
    }
  }
  for (const { id: domainId, name } of allDomains) {
    const addresses = everyIn((await unwatched.read(org, domainId)).kept);
    for (const { breachIds: ofAddress } of addresses) for (const id of ofAddress) breachIds.add(id);
    yield addresses.map(({ alias, isSevere: _, ...row }) =>
      line("unwatched_address", { id: idOf(domainId, alias), email: `${alias}@${name}`, domainId, ...row }),
    );
  }
  const breaches = await details(breachIds);
  yield [...breaches.values()].map((row) => line("breach", row as unknown as Item));
}
