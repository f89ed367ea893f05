/** All that is of an organization, without secrets: what it may ask for, and take elsewhere. */
import { entries } from "../activity/activity.ts";
import * as channels from "../alerts/channel.ts";
import { deliveries } from "../alerts/delivery.ts";
import { details } from "../catalog/details.ts";
import * as domains from "../domains/domain.ts";
import { emails } from "../emails/record.ts";
import { findings } from "../findings/record.ts";
import type { Recipient } from "../mail/recipient.ts";
import * as apiKeys from "../organizations/api-key.ts";
import type { Organization } from "../organizations/organization.ts";
import * as sessions from "../organizations/session.ts";
import * as teams from "../organizations/team.ts";
import type { User } from "../organizations/user.ts";
import { scans } from "../scans/record.ts";
import type { Item } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** One line of the export. `kind` says what it is; the rest are its fields. */
export type Line = { kind: string } & Item;

/** What of a stored row is of use to nobody but the service. */
const internal = [
  "pk",
  "sk",
  "group",
  "dueShard",
  "dueAt",
  "lease",
  "proofToken",
  "remaining",
  "planState",
  "stale",
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
} as const;

/** Every line, block by block: an organization of a million findings needs no more memory than a small one. */
export async function* exportLines(organization: Organization): AsyncGenerator<Line[], void, undefined> {
  const { id: org, name, createdAt, billing, scanEvery } = organization;
  yield [line("organization", { id: org, name, createdAt, billing, scanEvery })];
  yield (await domains.list(org)).map(({ id, name: domain, verified, verifiedAt, createdAt: at }) =>
    line("domain", { id, name: domain, verified, verifiedAt, createdAt: at }),
  );
  yield (await teams.list(org)).map(({ id, name: team, createdAt: at }) =>
    line("team", { id, name: team, createdAt: at }),
  );
  const users = await table.query<User & Item>({ pk: keys.user(org, 0).pk });
  yield users.map((row) => line("user", row));
  yield (await sessions.list(org, new Date())).map((row) => line("session", row));
  yield (await apiKeys.list(org)).map((row) => line("api_key", row));
  yield (await channels.list(org)).map((row) => line("alert_channel", channels.shown(org, row)));
  const recipients = await table.query<Recipient & Item>({ pk: keys.recipient(org, "").pk });
  yield recipients.map(({ secret: _, ...row }) => line("recipient", row));
  yield (await table.query<Item>({ pk: keys.acknowledgement(org, 0).pk })).map((row) =>
    line("acknowledgement", row),
  );
  const breachIds = new Set<number>();
  for (const [kind, list] of Object.entries(lists)) {
    for (const block of list.blocks(await list.directory(org))) {
      const members = await list.members(org, block);
      for (const { breachId } of members as { breachId?: number }[]) if (breachId) breachIds.add(breachId);
      yield members.map((row) => line(kind, { ...list.groupOf(row), ...row }));
    }
  }
  const breaches = await details(breachIds);
  yield [...breaches.values()].map((row) => line("breach", row as unknown as Item));
}
