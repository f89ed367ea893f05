/** Which mails go first when an organization has more of them than its budget, and until when the others wait. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { read as readOverview } from "../../functions/get-overview/overview.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { type Delivery, deliveries, waitsForOf } from "../../shared/alerting/deliveries/delivery.ts";
import { leftForOwners, takeCopies } from "../../shared/alerting/kinds/email/mail-budget.ts";
import { ownersChannel } from "../../shared/alerting/owners/owner.ts";
import { tellOwnersByHand } from "../../shared/alerting/owners/tell.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import { runOutboxOf, takeMessages } from "../scanning/in-process-workers.ts";
import {
  describeBreach,
  domain,
  findingsOf,
  inBreaches,
  rowsOf,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel, raiseTo } from "./channels.ts";
import { attempt, attemptOf, mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

const start = Date.parse("2030-01-01T10:10:00Z");
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An organization that has found so many people, and has them told. */
const told = async (
  people: number,
  mailBudget?: { hour: number; day: number },
): Promise<{ org: number; ids: number[] }> => {
  const org = await organizationOf(people);
  if (mailBudget !== undefined) await organizations.set(org, { mailBudget });
  await scan(org, inBreaches(people, "Mild"));
  const ids = (await findingsOf(org)).map(({ id }) => id);
  for (const some of chunk(ids, 100)) await tellOwnersByHand(org, some, administrator);
  return { org, ids };
};

/** Makes the first attempts of all messages to owners, ten at once. */
const sendToOwners = async (): Promise<void> => {
  for (const some of chunk(await takeMessages("deliveries"), 10)) await Promise.all(some.map(attempt));
};

const toOwners = async (org: number): Promise<Delivery[]> =>
  (await rowsOf(org, deliveries)).filter((row) => deliveries.groupOf(row).channelId === ownersChannel.id);

const owners = (): string[] => mails.received.filter((address) => address.endsWith(`@${domain}`));

const bodyOf = ({ request }: Request): string => new TextDecoder().decode(request.body);

const untilOf = (row: Delivery): string => waitsForOf(row, new Date())?.until.slice(0, 13) ?? "";

/** Goes on to the next attempt that is due, and makes all that are due then. False: none is. */
const goOn = async (org: number): Promise<boolean> => {
  const open = (await toOwners(org)).filter(({ dueAt }) => dueAt !== undefined);
  const [next] = open.map(({ dueAt = "" }) => Date.parse(dueAt)).sort((one, other) => one - other);
  if (next === undefined) return false;
  vi.setSystemTime(next);
  const due = open.filter(({ dueAt = "" }) => Date.parse(dueAt) <= next);
  for (const row of due) await attemptOf(org, row);
  return true;
};

test("after many owners were told, the mail of a critical finding goes out at once", async () => {
  // A tenth of the default budget, for a tenth of a telling of 559.
  const people = 56;
  const { org } = await told(people, { hour: 50, day: 200 });
  await sendToOwners();
  expect(owners()).toHaveLength(25);
  const rows = await toOwners(org);
  expect(rows.filter((row) => untilOf(row) === "2030-01-01T11")).toHaveLength(25);
  expect(rows.filter((row) => untilOf(row) === "2030-01-01T12")).toHaveLength(6);
  await describeBreach("Worse", { severity: "critical" });
  await createChannel(org, {}, { channel: "email", config: { recipients: ["security@other.example"] } });
  await scan(org, { ...inBreaches(people, "Mild"), 0: ["Mild", "Worse"] });
  await runOutboxOf(org);
  await sendAll();
  expect(mails.received.at(-1)).toBe("security@other.example");
  expect(mails.subjects.at(-1)).toMatch(/^Critical: Worse/);
});

test("owners beyond a day's half are told over days, each in the hour that was named", async () => {
  const { org } = await told(9, { hour: 4, day: 8 });
  await sendToOwners();
  const promised = new Map((await toOwners(org)).map((row) => [row.id, untilOf(row)]));
  const hours = ["2030-01-01T11", "2030-01-02T00", "2030-01-02T01"];
  expect([...promised.values()].toSorted()).toEqual([
    "",
    "",
    ...hours.flatMap((each) => [each, each]),
    "2030-01-03T00",
  ]);
  let attempts = 0;
  for (; await goOn(org); attempts++);
  const rows = await toOwners(org);
  expect(rows.map(({ status }) => status)).toEqual(Array(9).fill("delivered"));
  expect(new Set(owners()).size).toBe(9);
  // Nobody was promised one hour and told in another, or attempted in each.
  for (const { id, lastAttemptAt } of rows)
    expect(lastAttemptAt?.slice(0, 13)).toBe(promised.get(id) || "2030-01-01T10");
  expect(attempts).toBe(7);
});

test("an owner's mail is booked anew if others have used up its hour", async () => {
  const mailBudget = { hour: 4, day: 100 };
  const { org } = await told(3, mailBudget);
  await sendToOwners();
  vi.setSystemTime(Date.parse("2030-01-01T11:01:00Z"));
  expect(await takeCopies(org, 4, mailBudget, new Date(), { isUrgent: true })).toBeUndefined();
  await goOn(org);
  expect(owners()).toHaveLength(2);
  const [waiting] = (await toOwners(org)).filter(({ dueAt }) => dueAt !== undefined);
  expect(waiting && untilOf(waiting)).toBe("2030-01-01T12");
  await goOn(org);
  expect(owners()).toHaveLength(3);
});

test("an owner's mail that SES does not take leaves its booked hour to others", async () => {
  const mailBudget = { hour: 4, day: 100 };
  const { org } = await told(3, mailBudget);
  await sendToOwners();
  mails.throttled = () => true;
  await goOn(org);
  expect(owners()).toHaveLength(2);
  expect(await leftForOwners({ id: org, mailBudget }, new Date())).toMatchObject({ left: 2 });
});

test("where channels have used up the owners' part of a day, the next day is promised", async () => {
  const mailBudget = { hour: 100, day: 20 };
  const { org } = await told(2, mailBudget);
  expect(await takeCopies(org, 14, mailBudget, new Date(), { isUrgent: true })).toBeUndefined();
  await sendToOwners();
  expect((await toOwners(org)).map(untilOf)).toEqual(Array(2).fill("2030-01-02T00"));
  const { left, until } = await leftForOwners({ id: org, mailBudget }, new Date());
  expect({ left, until: until.toISOString() }).toEqual({ left: 0, until: "2030-01-02T00:00:00.000Z" });
});

test("without any budget a message to an owner is given up after a day", async () => {
  const { org } = await told(1, { hour: 0, day: 0 });
  await sendToOwners();
  while (await goOn(org));
  expect(owners()).toEqual([]);
  expect(await toOwners(org)).toMatchObject([
    { status: "not delivered", failureReason: "budget of e-mails is used up" },
  ]);
});

test("the overview says until when a channel's messages wait, at one write for many", async () => {
  const org = await organizationOf(5);
  const mailBudget = { hour: 10, day: 100 };
  await organizations.set(org, { mailBudget });
  await takeCopies(org, 7, mailBudget, new Date());
  const waitingId = await createChannel(org, { grouping: "address" });
  const otherId = await createChannel(org, { grouping: "scan" });
  const singles = Array.from({ length: 20 }, () => ({
    type: "breach" as const,
    breachIds: [1],
    email: { id: 1, findingIds: [1] },
  }));
  const messages = await raiseTo(org, waitingId, singles);
  await takeMessages("deliveries");
  let writes = 0;
  const stop = intercept<Request>("finalizeRequest", (next) => (sent) => {
    if (/"UpdateExpression".*waits/.test(bodyOf(sent)) && bodyOf(sent).includes("#CHANNEL")) writes++;
    return next(sent);
  });
  for (const message of messages) await attempt(message);
  stop();
  const shown = async () => {
    const { channels } = await readOverview(org, new Date());
    return new Map(channels.map(({ id, waitsFor }) => [id, waitsFor]));
  };
  expect(await shown()).toEqual(
    new Map([
      [
        waitingId,
        { reason: "budget of e-mails is used up", until: expect.stringMatching(/^2030-01-01T11:0/) },
      ],
      [otherId, null],
    ]),
  );
  expect(writes).toBe(1);
  vi.setSystemTime(Date.parse("2030-01-01T11:10:00Z"));
  expect((await shown()).get(waitingId)).toBeNull();
});
