/**
 * Messages to the owners of breached addresses: whom a scan tells, whom people tell by hand, and that nobody
 * gets two, whoever dies.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import { entries } from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { retryAll } from "../../shared/alerting/attempts/by-hand.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { type Delivery, deliveries, waitsForOf } from "../../shared/alerting/deliveries/delivery.ts";
import { takeCopies } from "../../shared/alerting/kinds/email/mail-budget.ts";
import { addresseesOf, setConsent } from "../../shared/alerting/kinds/email/recipient.ts";
import { ownersChannel } from "../../shared/alerting/owners/owner.ts";
import { stateOf } from "../../shared/alerting/owners/state.ts";
import { tellOwnersByHand } from "../../shared/alerting/owners/tell.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { remove as removeEmail } from "../../shared/findings/email-removal.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../shared/monitoring/domains/proof.ts";
import { changeMany } from "../../shared/monitoring/emails/changes.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { recordCheck } from "../../shared/scanning/record-check.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  changesIn,
  checkOf,
  createOrganization,
  endEarly,
  readScan,
  runChecks,
  runOutboxOf,
  startAndPlan,
  takeMessages,
} from "../scanning/in-process-workers.ts";
import {
  describeBreach,
  domain,
  expectEachToldOnce,
  findingsOf,
  inBreaches,
  rowsOf,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel, defaults } from "./channels.ts";
import { attempt, attemptOf, mails, useMailServer } from "./mail-deliveries.ts";

const { workers, scan, organizationOf } = useBreachedPeople();
useMailServer();

const createTelling = (org: number, options: Partial<AlertOptions> = {}): Promise<number> =>
  createChannel(org, { tellOwners: true, ...options });

const toOwners = async (org: number): Promise<Delivery[]> =>
  (await rowsOf(org, deliveries)).filter(({ event }) => event.type === "owner");

/** Makes the last of the thirty attempts of the only message to an owner, as if those before had failed. */
const failForGood = async (org: number): Promise<void> => {
  const [row] = await toOwners(org);
  const made = { attempts: 29, failedAttempts: 29 };
  await table.update(deliveries.key(org, row?.id ?? 0), { set: made });
  if (row !== undefined) await attemptOf(org, { ...row, ...made });
};

/** Makes the attempts of all messages in the queue, and gives whom owners' mails went to. */
const sendAll = async (): Promise<string[]> => {
  for (const message of await takeMessages("deliveries")) await attempt(message);
  return mails.received.filter((address) => address.endsWith(`@${domain}`)).toSorted();
};

const tell = async (org: number, ids?: readonly number[]): Promise<number> =>
  tellOwnersByHand(org, ids ?? (await findingsOf(org)).map(({ id }) => id), administrator);

const disable = async (org: number, user: number): Promise<void> => {
  const [row] = (await findingsOf(org)).filter(({ email }) => email === `user${user}@${domain}`);
  await changeMany(org, [row?.emailId ?? 0], { isActive: false }, administrator);
};

const refuse = async (org: number, address: string): Promise<void> => {
  const [addressee] = await addresseesOf(org, [address]);
  await setConsent(addressee?.token ?? "", "refused");
};

/** From now on it is so much later, until the end of the test. */
const letHoursPass = (hours: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3600_000 + 1_000 });
};
const letDayPass = (): void => letHoursPass(24);
afterEach(() => {
  vi.useRealTimers();
});

describe("telling owners", () => {
  test("sends each owner one message, however many channels want it", async () => {
    const org = await organizationOf(10);
    for (const grouping of ["scan", "address", "week"] as const) await createTelling(org, { grouping });
    await describeBreach("Alpha", { severity: "high", title: "Alpha", dataClasses: ["Passwords"] });
    await scan(org, { 0: ["Alpha", "Beta"], 7: ["Beta"] });
    expect(await sendAll()).toEqual([`user0@${domain}`, `user7@${domain}`]);
    const at = mails.received.indexOf(`user0@${domain}`);
    expect(mails.subjects[at]).toBe("High: your address is in the data breach Alpha and 1 more (Test)");
    const text = mails.texts[at] ?? "";
    for (const part of ["known data breaches. Yours, user0@", "* Alpha · high", "Exposed: Passwords"])
      expect(text).toContain(part);
    const [addressee] = await addresseesOf(org, [`user0@${domain}`]);
    expect(text).toContain(`Unsubscribe: https://monitor.example/api/app/recipient#${addressee?.token}`);
    expect(text).not.toMatch(/acknowledge|\/findings|\/emails|user7/i);
  });

  test("tells on another day only what is new, and nothing twice", async () => {
    const org = await organizationOf(2);
    await createTelling(org);
    await scan(org, { 0: ["Alpha"] });
    await scan(org, { 0: ["Alpha", "Beta"] });
    await scan(org, {});
    await scan(org, { 0: ["Alpha", "Beta"] });
    expect(await sendAll()).toEqual(Array(2).fill(`user0@${domain}`));
    const told = (await toOwners(org)).map(({ event }) => event.type === "owner" && event.email.findingIds);
    expect(new Set(told.flat()).size).toBe(2);
    expect(told.flat()).toHaveLength(2);
  });

  test("leaves out sensitive breaches and those below minSeverity", async () => {
    const org = await organizationOf(10);
    await createTelling(org, { minSeverity: "high" });
    await createChannel(org, { minSeverity: "low" });
    await describeBreach("Worse", { severity: "critical" });
    await describeBreach("Secret", { severity: "critical", isSensitive: true });
    await scan(org, { 0: ["Worse", "Secret", "Mild"], 1: ["Mild"], 2: ["Secret"] });
    expect(await sendAll()).toEqual([`user0@${domain}`]);
    const text = mails.texts[mails.received.indexOf(`user0@${domain}`)] ?? "";
    expect(text).not.toMatch(/Secret|Mild/);
    // People may tell the rest by hand, except sensitive breaches.
    expect(await tell(org)).toBe(2);
  });

  test("tells nobody of a baseline, but up to five people of a first scan", async () => {
    for (const [people, told] of [
      [6, 0],
      [5, 5],
    ] as const) {
      const org = await createOrganization({ [domain]: 20 });
      await createTelling(org, { grouping: "address" });
      await scan(org, inBreaches(people, "Alpha", "Beta"));
      expect(await sendAll()).toHaveLength(told);
      expect(await toOwners(org)).toHaveLength(told);
      // Those of a baseline can be told by hand.
      expect(await tell(org)).toBe(people - told);
      await takeMessages("deliveries");
      mails.received = [];
    }
  });

  test("tells up to five people of a failed first scan, and only once", async () => {
    for (const [people, told] of [
      [5, 5],
      [6, 0],
    ] as const) {
      const org = await createOrganization({ [domain]: people });
      const channelId = await createTelling(org);
      workers.breached[domain] = inBreaches(people, "Alpha");
      const scanId = await startAndPlan(org);
      const [chunk, ...others] = await takeMessages("scan-checks");
      if (chunk === undefined || others.length > 0)
        throw new Error("The scan was expected to have one chunk");
      // Its worker records what it found, and dies before it closes the chunk.
      await recordCheck(await checkOf(chunk), await changesIn(chunk));
      await endEarly(org, scanId);
      expect(await readScan(org, scanId)).toMatchObject({ status: "failed", scannedEmails: 0 });
      for (const _ of ["the failed scan", "the next"]) {
        await expectEachToldOnce(org, channelId);
        expect(await toOwners(org)).toHaveLength(told);
        await scan(org, inBreaches(people, "Alpha"));
      }
      await takeMessages("deliveries");
    }
  });

  test("tells a person all of many findings of a first scan, once", async () => {
    const org = await createOrganization({ [domain]: 3 });
    await createTelling(org);
    const names = Array.from({ length: 90 }, (_, index) => `Breach${index}`);
    await scan(org, { 0: names });
    const told = (await toOwners(org)).flatMap(({ event }) =>
      event.type === "owner" ? event.email.findingIds : [],
    );
    expect(told).toHaveLength(90);
    expect(new Set(told).size).toBe(90);
  });

  test("tells each person of a first scan once even if the outbox dies", async () => {
    const org = await createOrganization({ [domain]: 5 });
    const channelId = await createTelling(org);
    workers.breached[domain] = inBreaches(4, "Alpha");
    await startAndPlan(org);
    const death = onTableRequest("a gathered delivery", "before", async () => {
      throw new Error("killed");
    });
    await expect(runChecks()).rejects.toThrow("killed");
    expect(death.happened).toBe(true);
    expect(await toOwners(org)).toHaveLength(4);
    await runOutboxOf(org);
    await expectEachToldOnce(org, channelId);
    expect(await toOwners(org)).toHaveLength(4);
  });

  test("waits while the channel is disabled or does not want it", async () => {
    const org = await organizationOf(10);
    const id = await createTelling(org);
    const other = await createChannel(org);
    await scan(org, { 0: ["Alpha"] });
    await table.update(keys.channel(org, id), { set: { isEnabled: false } });
    expect(await sendAll()).toEqual([]);
    const [row] = await toOwners(org);
    if (row === undefined) throw new Error("a delivery was expected");
    expect(waitsForOf(row, new Date())?.reason).toBe("no channel tells owners");
    await table.update(keys.channel(org, other), { set: { tellOwners: true } });
    await attemptOf(org, row);
    expect(await sendAll()).toEqual([`user0@${domain}`]);
  });
});

describe("by hand", () => {
  test("each person gets one message, the log one entry; the next day others", async () => {
    const org = await organizationOf(30, { first: true });
    await scan(org, inBreaches(30, "Alpha", "Beta"));
    const ids = (await findingsOf(org)).map(({ id }) => id);
    expect(await tell(org, [...ids, ...ids])).toBe(30);
    expect(await sendAll()).toHaveLength(30);
    expect(await tell(org, ids)).toBe(0);
    const summaries = (await rowsOf(org, entries)).filter(({ action }) => action === "findings.told");
    expect(summaries.map(({ summary }) => summary)).toEqual([
      "Told the owners of 30 addresses of their findings",
    ]);
    letDayPass();
    expect(await tell(org, ids.slice(0, 1))).toBe(1);
  });

  test("an id of nobody or of another organization tells nobody", async () => {
    const [org, other] = [await organizationOf(2, { first: true }), await organizationOf(2, { first: true })];
    for (const each of [org, other]) await scan(each, { 0: ["Alpha"] });
    const [[own], [foreign]] = [await findingsOf(org), await findingsOf(other)];
    for (const id of [foreign?.id ?? 0, 2 ** 52]) {
      await expect(tell(org, [own?.id ?? 0, id])).rejects.toMatchObject({ refusal: "findingNotFound" });
    }
    expect([await toOwners(org), await toOwners(other)]).toEqual([[], []]);
  });

  test("leaves out disabled and unsubscribed people and unverified domains", async () => {
    const org = await organizationOf(4, { first: true });
    await scan(org, inBreaches(4, "Alpha"));
    await disable(org, 0);
    await refuse(org, `user1@${domain}`);
    expect(await tell(org)).toBe(2);
    letDayPass();
    const [row] = await domains.list(org);
    await setVerified(org, row?.id ?? 0, false);
    expect(await tell(org)).toBe(0);
    expect(await sendAll()).toEqual([]);
  });

  test("concurrent and repeated requests tell each person once", async () => {
    const org = await organizationOf(40, { first: true });
    await scan(org, inBreaches(40, "Alpha"));
    const counts = await Promise.all([tell(org), tell(org), tell(org)]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(await sendAll()).toHaveLength(40);
    letDayPass();
    let seen = 0;
    const restore = intercept<Request>("finalizeRequest", (next) => async (sent) => {
      const isWrite = String(sent.request.headers["x-amz-target"]).endsWith("TransactWriteItems");
      if (isWrite && ++seen === 2) throw new Error("killed");
      const reply = await next(sent);
      if (isWrite && seen === 3) throw new Error("killed");
      return reply;
    });
    await expect(tell(org)).rejects.toThrow("killed");
    await expect(tell(org)).rejects.toThrow("killed");
    restore();
    await tell(org);
    expect(await tell(org)).toBe(0);
    const told = (await toOwners(org)).map(({ event }) => event.type === "owner" && event.email.id);
    expect([...Map.groupBy(told, (id) => id).values()].filter(({ length }) => length !== 2)).toEqual([]);
    expect(told).toHaveLength(80);
    expect((await audit(org)).differences).toEqual([]);
  });
});

describe("a sent message", () => {
  const toldBut = async (change: (org: number) => Promise<unknown>) => {
    const org = await organizationOf(2, { first: true });
    await describeBreach("Alpha", { isSensitive: false });
    await scan(org, { 0: ["Alpha"] });
    expect(await tell(org)).toBe(1);
    await change(org);
    const sent = await sendAll();
    const [row] = await toOwners(org);
    return { org, sent, row };
  };

  test("reaches nobody if the address is disabled or the breach sensitive", async () => {
    const changes = [
      (org: number) => disable(org, 0),
      async (org: number) => removeEmail(org, (await findingsOf(org))[0]?.emailId ?? 0, administrator),
      () => describeBreach("Alpha", { isSensitive: true }),
      async (org: number) => setVerified(org, (await domains.list(org))[0]?.id ?? 0, false),
      (org: number) => organizations.markDeleting(org),
    ];
    for (const change of changes) {
      expect(await toldBut(change)).toMatchObject({ sent: [], row: undefined });
    }
  });

  test("is given up if the owner unsubscribed, and users see that", async () => {
    const { org, sent, row } = await toldBut((org) => refuse(org, `user0@${domain}`));
    expect(sent).toEqual([]);
    expect(row).toMatchObject({ status: "not delivered", failureReason: "the owner has unsubscribed" });
    const [finding] = await findingsOf(org);
    const email = { id: finding?.emailId ?? 0, email: `user0@${domain}` };
    expect(await stateOf(org, email)).toMatchObject({
      hasUnsubscribed: true,
      lastMessage: { status: "not delivered", failureReason: "the owner has unsubscribed" },
    });
  });

  test("waits for the budget, of which three tenths are left to others", async () => {
    const { sent, row } = await toldBut(async (org) => {
      const budget = { hour: 20, day: 1_000 };
      await organizations.set(org, { mailBudget: budget });
      expect(await takeCopies(org, 14, budget, new Date())).toBeUndefined();
    });
    expect([sent, row && waitsForOf(row, new Date())?.reason]).toEqual([[], "budget of e-mails is used up"]);
  });

  test("tells only what channels still want, but by hand it tells all", async () => {
    await describeBreach("Worse", { severity: "critical" });
    for (const [isByHand, least, told] of [
      [false, "critical", ["Worse"]],
      [false, "low", ["Worse", "Mild"]],
      [true, "critical", ["Worse", "Mild"]],
    ] as const) {
      const org = await organizationOf(2);
      const channelId = await createTelling(org);
      if (isByHand) await setOptions(org, channelId, { ...defaults, tellOwners: false }, administrator);
      await scan(org, { 0: ["Worse", "Mild"], 1: ["Mild"] });
      if (isByHand) expect(await tell(org)).toBe(2);
      const options = { ...defaults, minSeverity: least, tellOwners: true };
      await setOptions(org, channelId, options, administrator);
      mails.texts = [];
      await sendAll();
      const texts = mails.texts.filter((text) => text.includes("Yours, user"));
      const toFirst = texts.find((text) => text.includes("Yours, user0")) ?? "";
      expect(["Worse", "Mild"].filter((name) => toFirst.includes(`* ${name} ·`))).toEqual(told);
      // The other person is in Mild alone.
      expect(texts).toHaveLength(told.length);
      expect(await toOwners(org)).toHaveLength(told.length);
    }
  });

  test("that waits, or has arrived late, is not sent once more by hand", async () => {
    const { org, row } = await toldBut(async (org) => {
      await organizations.set(org, { mailBudget: { hour: 0, day: 0 } });
    });
    letDayPass();
    expect(await tell(org)).toBe(0);
    await organizations.set(org, { mailBudget: { hour: 500, day: 2_000 } });
    if (row !== undefined) await attemptOf(org, row);
    expect(await sendAll()).toHaveLength(1);
    expect(await tell(org)).toBe(0);
  });

  test("that waits because no channel tells owners is replaced by hand", async () => {
    const org = await organizationOf(10);
    const channelId = await createTelling(org);
    await scan(org, { 0: ["Alpha"] });
    const [early] = await toOwners(org);
    const setTelling = (tellOwners: boolean) =>
      setOptions(org, channelId, { ...defaults, tellOwners }, administrator);
    expect(await tell(org)).toBe(0);
    await setTelling(false);
    expect(await tell(org)).toBe(1);
    expect(await tell(org)).toBe(0);
    await setTelling(true);
    if (early !== undefined) await attemptOf(org, early);
    expect(await sendAll()).toEqual([`user0@${domain}`]);
    expect(await toOwners(org)).toMatchObject([{ status: "delivered", event: { byHand: true } }]);
  });

  test("that arrives after a later one is not sent once more by hand", async () => {
    const org = await organizationOf(2);
    await createTelling(org);
    await organizations.set(org, { mailBudget: { hour: 0, day: 0 } });
    await scan(org, { 0: ["Alpha"] });
    const [early] = await toOwners(org);
    letHoursPass(10);
    await scan(org, { 0: ["Alpha", "Beta"] });
    await takeMessages("deliveries");
    letHoursPass(10);
    await organizations.set(org, { mailBudget: { hour: 500, day: 2_000 } });
    for (const row of await toOwners(org)) await attemptOf(org, row);
    expect((await toOwners(org)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
    letHoursPass(5);
    const ids = early?.event.type === "owner" ? early.event.email.findingIds : [];
    expect(await tell(org, ids)).toBe(0);
    letHoursPass(20);
    expect(await tell(org)).toBe(1);
  });

  test("that was discarded since there was nobody to tell has told nobody", async () => {
    const { org } = await toldBut((org) => disable(org, 0));
    const [row] = await findingsOf(org);
    await changeMany(org, [row?.emailId ?? 0], { isActive: true }, administrator);
    expect(await tell(org)).toBe(1);
  });

  test("that was given up and then told by hand is not sent by a retry", async () => {
    const { org } = await toldBut(async () => {
      mails.refused = (address) => address.endsWith(`@${domain}`);
    });
    await failForGood(org);
    mails.refused = () => false;
    letDayPass();
    expect(await tell(org)).toBe(1);
    expect(await sendAll()).toHaveLength(1);
    expect(await retryAll(org, ownersChannel.id)).toBe(1);
    for (const now of await toOwners(org)) await attemptOf(org, now);
    expect(await sendAll()).toHaveLength(1);
    expect((await toOwners(org)).map(({ status }) => status).toSorted()).toEqual([
      "delivered",
      "not delivered",
    ]);
  });

  test("that bounces fails no channel, however often", async () => {
    const { org, row } = await toldBut(async (org) => {
      await createTelling(org);
      mails.refused = (address) => address.endsWith(`@${domain}`);
    });
    expect(row).toMatchObject({ status: "retrying", failedAttempts: 1 });
    const [finding] = await findingsOf(org);
    const email = { id: finding?.emailId ?? 0, email: `user0@${domain}` };
    const waitsFor = { reason: "another attempt", until: row?.dueAt };
    expect((await stateOf(org, email)).lastMessage).toMatchObject({ status: "retrying", waitsFor });
    await failForGood(org);
    expect((await toOwners(org))[0]).toMatchObject({ status: "not delivered", attempts: 30 });
    expect((await audit(org)).differences).toEqual([]);
    const all = await channels.list(org);
    expect(all.map(({ failingSince }) => failingSince)).toEqual([undefined]);
    expect((await rowsOf(org, deliveries)).map(({ event }) => event.type)).toEqual(["owner"]);
    expect(await retryAll(org, ownersChannel.id)).toBe(1);
    mails.refused = () => false;
    for (const now of await toOwners(org)) await attemptOf(org, now);
    expect((await toOwners(org))[0]).toMatchObject({ status: "delivered", attempts: 31 });
  });
});
