import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import * as queue from "../../aws/queue/queue.ts";
import { inTransactions } from "../../aws/table/budget.ts";
import { asRead, type Write } from "../../aws/table/condition.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as counts from "../../counts/counts.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import { breachesPerEvent } from "../../outbox/outbox.ts";
import * as channels from "../channels/channel.ts";
import {
  type Delivery,
  deliveries,
  type OwnerEvent,
  type Raised,
  raiseFor,
  reserveIds,
} from "../deliveries/delivery.ts";
import { leftForOwners } from "../kinds/email/mail-budget.ts";
import { consentsOf } from "../kinds/email/recipient.ts";
import { eventFor, leastForOwners, ownersChannel } from "./owner.ts";

/** Nobody is told of a finding again within this time. */
const againAfterMilliseconds = 24 * 3600_000;

/** How owners are told. `logOf`: the log entry of having told so many people, for each transaction. */
type Telling = { byHand?: true; logOf?: (people: number, isLogged: boolean) => Write[] };

/** Has owners told by hand, and gives how many. Refuses `findingNotFound` before anybody is told. */
export const tellOwnersByHand = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
): Promise<number> => {
  if ((await findings.getMany(org, ids)).includes(undefined)) throw new Refusal("findingNotFound");
  const slot = await activity.slot(org);
  const { people, messages } = await tellOwners(org, ids, {
    byHand: true,
    logOf: (count, isLogged) =>
      activity.counting(org, slot, isLogged, {
        action: "findings.told",
        summary: `Told the ${count === 1 ? "owner of 1 address" : `owners of ${count} addresses`} of their findings`,
        actor,
      }),
  });
  // The re-dispatch sends what SQS does not take.
  await queue.sendPossible("deliveries", messages);
  return people;
};

/**
 * How many people `tellOwnersByHand` would tell now, and how many messages to owners the mail budget lets out until
 * when. Writes nothing. Refuses `findingNotFound`.
 */
export const previewTelling = async (
  org: number,
  ids: readonly number[],
): Promise<{ matching: number; mails: { left: number; until: string } }> => {
  if ((await findings.getMany(org, ids)).includes(undefined)) throw new Refusal("findingNotFound");
  const [{ due }, organization] = await Promise.all([
    dueOf(org, [...new Set(ids)]),
    organizations.existing(org),
  ]);
  const { left, until } = await leftForOwners(organization, new Date());
  return { matching: due.length, mails: { left, until: until.toISOString() } };
};

/**
 * Writes deliveries to the owners of these findings, without those who were told of them within a day. Safe
 * to repeat, also after it was interrupted. The caller sends the messages.
 */
export const tellOwners = async (
  org: number,
  ids: readonly number[],
  { byHand, logOf = () => [] }: Telling = {},
): Promise<{ people: number; messages: Raised["messages"] }> => {
  const people = new Set<number>();
  const messages: Raised["messages"] = [];
  for (let isWhole = false; !isWhole; ) {
    isWhole = await withOptimisticRetry(async () => {
      const { due, isAll } = await dueOf(org, [...new Set(ids)]);
      const reserved = await reserveIds(org, due.length);
      const prepared: Prepared[] = [];
      for (const each of due) {
        const event = { ...each.event, ...(byHand && { byHand }) };
        prepared.push({
          ...each,
          raised: await raiseFor(org, [{ event, channel: ownersChannel }], reserved),
        });
      }
      for (const group of inTransactions(prepared, (each) => writesOf(org, [each]), logOf(0, false))) {
        const peopleSoFar = new Set([...people, ...group.map(({ email }) => email.id)]);
        await table.transact([...writesOf(org, group), ...logOf(peopleSoFar.size, people.size > 0)]);
        for (const id of peopleSoFar) people.add(id);
        messages.push(...group.flatMap(({ raised }) => raised.messages));
      }
      return isAll;
    });
  }
  return { people: people.size, messages };
};

type Due = { email: Email; rows: FindingRecord[]; event: OwnerEvent };
type Prepared = Due & { raised: Raised };

/** Conditions on what was read: nobody is told twice, and no e-mail that was disabled or removed meanwhile. */
const writesOf = (org: number, prepared: readonly Prepared[]): Write[] => {
  const ownerToldAt = new Date().toISOString();
  const changes = prepared.flatMap(({ rows, raised }) =>
    rows.map((row) => {
      const from = findings.groupOf(row);
      return {
        ...row,
        from,
        to: { ...from, told: true },
        deliveryId: raised.messages[0]?.message.deliveryId,
      };
    }),
  );
  return [
    ...emails.writes(
      org,
      prepared.map(({ email, raised }) =>
        emails.change(org, email.id, {
          from: emails.groupOf(email),
          set: { ownerDelivery: raised.messages[0]?.message.deliveryId },
        }),
      ),
    ),
    ...findings.writes(
      org,
      changes.map(({ id, emailId, ownerDelivery, deliveryId, from, to }) =>
        findings.change(org, id, {
          from,
          to,
          set: { ownerDelivery: deliveryId, ownerToldAt },
          if: asRead({ emailId, ownerDelivery }),
        }),
      ),
    ),
    ...counts.writes(org, { findings: changes }),
    ...deliveries.writes(
      org,
      prepared.flatMap(({ raised }) => raised.writes),
    ),
  ];
};

/** Whom to tell of what, in one message each. Not `isAll`: somebody has more findings than that. */
const dueOf = async (org: number, ids: readonly number[]): Promise<{ due: Due[]; isAll: boolean }> => {
  const dueRows = await dueFindings(org, ids);
  const [reachable, grades] = await Promise.all([
    reachableOf(org, [...new Set(dueRows.map(({ emailId }) => emailId))]),
    breachDetails.grades(dueRows.map(({ breachId }) => breachId)),
  ]);
  let isAll = true;
  const due = reachable.flatMap((email): Due[] => {
    const ofEmail = dueRows.filter(({ emailId }) => emailId === email.id);
    const breaches = ofEmail.flatMap(({ id, breachId }) => {
      const grade = grades.get(breachId);
      return grade === undefined || grade.isSensitive ? [] : [{ findingId: id, breachId, ...grade }];
    });
    isAll &&= breaches.length <= breachesPerEvent;
    if (breaches.length === 0) return [];
    const event = eventFor(email.id, breaches.slice(0, breachesPerEvent));
    return [{ email, event, rows: ofEmail.filter(({ id }) => event.email.findingIds.includes(id)) }];
  });
  return { due, isAll };
};

/**
 * Findings whose message to the owner is not under way and was not attempted within a day. A failed attempt
 * counts, because SES may have taken it. One that waits because no channel tells owners any more is not under
 * way: it may never go out, and finds nothing to tell if it does.
 */
const dueFindings = async (org: number, ids: readonly number[]): Promise<FindingRecord[]> => {
  const latest = new Date(Date.now() - againAfterMilliseconds).toISOString();
  const [rowsOrGone, all] = await Promise.all([findings.getMany(org, ids), channels.list(org)]);
  const rows = rowsOrGone.filter((row) => row !== undefined);
  const isByItself = leastForOwners(all) !== undefined;
  const isUnderWay = ({ dueAt, event }: Delivery): boolean =>
    dueAt !== undefined && (isByItself || (event.type === "owner" && event.byHand === true));
  const messages = await deliveries.getMany(org, [
    ...new Set(rows.flatMap(({ ownerDelivery }) => ownerDelivery ?? [])),
  ]);
  const recent = messages.flatMap((message) =>
    message !== undefined && (isUnderWay(message) || (message.lastAttemptAt ?? "") > latest)
      ? [message.id]
      : [],
  );
  return rows.filter(({ ownerDelivery }) => ownerDelivery === undefined || !recent.includes(ownerDelivery));
};

/** Those of the e-mails that are active, of a verified domain, and whose owners have not unsubscribed. */
const reachableOf = async (org: number, ids: readonly number[]): Promise<Email[]> => {
  const rows = (await emails.getMany(org, ids)).filter((row) => row !== undefined);
  const active = rows.filter((row) => emails.groupOf(row).isActive);
  const [byId, consents] = await Promise.all([
    domains.getMany(
      org,
      active.map((row) => emails.groupOf(row).domainId),
    ),
    consentsOf(
      org,
      active.map(({ email }) => email),
    ),
  ]);
  return active.filter(
    (row, index) =>
      byId.get(emails.groupOf(row).domainId)?.verified === true && consents[index] !== "refused",
  );
};
