/** What messages of scans say of addresses that nobody watches, and when these make one by themselves. */
import { beforeEach, describe, expect, test } from "vitest";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { readContent } from "../../shared/alerting/messages/content.ts";
import { titleOf } from "../../shared/alerting/messages/title.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { takeMessages } from "../scanning/in-process-workers.ts";
import { deliveriesOf, describeBreach, domain, inBreaches, useBreachedPeople } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";
import { attemptOf, mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

beforeEach(async () => {
  await describeBreach("Stealer", { severity: "critical", title: "Stealer", isStealerLog: true });
  await describeBreach("Leak", { severity: "high", title: "Leak", dataClasses: ["Passwords"] });
  await describeBreach("Mild", { severity: "low", title: "Mild" });
  await describeBreach("Secret", { severity: "high", title: "Secret", isSensitive: true });
});

/** Indexes of addresses that nobody watches, in organizations that watch fewer than 50. */
const strangers = (count: number, ...names: string[]): Record<number, string[]> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [50 + index, names]));

const list = "/domains/unwatched";

describe("unwatched addresses", () => {
  test("in a stealer log are told once, without naming any", async () => {
    const org = await organizationOf(2);
    const channelId = await createChannel(org);
    const hook = await createChannel(org, {}, webhook);
    const found = strangers(1, "Stealer");
    await scan(org, found);
    await sendAll();
    expect(mails.subjects).toEqual(["Critical: Stealer, data of 1 address that nobody watches at Test"]);
    expect(mails.texts[0]).toMatch(new RegExp(`See the address: .*${list}\\?breachId=\\d+\n`));
    expect(mails.texts[0]).not.toContain(`@${domain}`);
    await scan(org, found);
    await sendAll();
    expect(mails.subjects).toHaveLength(1);
    const [row] = await deliveriesOf(org, channelId);
    expect(row?.headline).toMatchObject({ people: 0, unwatched: 1 });
    const titles = new Map([[row?.headline?.breachId ?? 0, { title: "Stealer", isSensitive: false }]]);
    expect(row && titleOf(row, titles, true)).toBe("Stealer: 1 address that nobody watches");
    expect(await deliveriesOf(org, hook)).toEqual([]);
  });

  test("are told of severe breaches alone, and from minSeverity on", async () => {
    const org = await organizationOf(2);
    const all = await createChannel(org);
    const worst = await createChannel(org, { minSeverity: "critical" });
    const single = await createChannel(org, { grouping: "address" });
    await scan(org, strangers(3, "Mild"));
    for (const id of [all, worst, single]) expect(await deliveriesOf(org, id)).toEqual([]);
    await scan(org, { ...strangers(3, "Mild", "Leak"), 60: ["Mild"] });
    await sendAll();
    expect(mails.subjects).toEqual(["High: Leak and 1 more, 3 addresses that nobody watches at Test"]);
    expect(mails.texts[0]).toContain("1 more is in breaches of lower severity.");
    for (const id of [worst, single]) expect(await deliveriesOf(org, id)).toEqual([]);
    await table.update(keys.channel(org, all), { set: { notifyOnNewBreach: false } });
    await scan(org, strangers(3, "Mild", "Leak", "Stealer"));
    expect(await deliveriesOf(org, all)).toHaveLength(1);
    expect(await deliveriesOf(org, worst)).toHaveLength(1);
  });

  test("in a sensitive breach: a discreet channel is not told which", async () => {
    const org = await organizationOf(2);
    await createChannel(org);
    await createChannel(org, { sensitive: "named" });
    await scan(org, strangers(2, "Secret"));
    await sendAll();
    expect(mails.subjects.toSorted()).toEqual([
      "High: Secret, data of 2 addresses that nobody watches at Test",
      "High: a sensitive breach, 2 addresses that nobody watches at Test",
    ]);
    const discreet = mails.texts.find((text) => !text.includes("Secret"));
    expect(discreet).not.toContain("breachId");
  });

  test("that several scans of a day find are told together", async () => {
    const org = await organizationOf(2);
    const channelId = await createChannel(org, { grouping: "day" });
    await scan(org, strangers(2, "Leak"));
    await scan(org, { ...strangers(2, "Leak"), 70: ["Leak"] });
    expect(await takeMessages("deliveries")).toEqual([]);
    const [row, ...others] = await deliveriesOf(org, channelId);
    expect(others).toEqual([]);
    if (row !== undefined) await attemptOf(org, row);
    expect(mails.subjects).toEqual([
      "High: Leak, passwords of up to 3 addresses that nobody watches at Test",
    ]);
  });
});

describe("a message about people", () => {
  test("adds the count of unwatched addresses and a link to them", async () => {
    const org = await organizationOf(10);
    await createChannel(org);
    await createChannel(org, { minSeverity: "high" });
    await scan(org, { ...inBreaches(7, "Leak"), ...strangers(9, "Leak") });
    await sendAll();
    for (const text of mails.texts) {
      expect(text).toContain("Leak · high · 7 people");
      expect(text).toMatch(new RegExp(`\\* And 9 addresses that nobody watches\n .*${list}\\?breachId=`));
    }
    expect(mails.texts).toHaveLength(2);
  });

  test("about one person adds it too, at or above minSeverity", async () => {
    const org = await organizationOf(10);
    await createChannel(org, { minSeverity: "high" });
    await scan(org, { 3: ["Leak"], ...strangers(2, "Stealer"), 60: ["Mild"] });
    await sendAll();
    expect(mails.subjects).toEqual(["High: Leak, passwords of 1 person at Test"]);
    expect(mails.texts[0]).toMatch(
      new RegExp(`\\* And 2 addresses that nobody watches\n .*${list}\\?order=newest`),
    );
  });

  test("of a first scan adds it, and none is sent for it alone", async () => {
    const org = await organizationOf(10, { first: true });
    await createChannel(org);
    await scan(org, { ...inBreaches(6, "Leak"), ...strangers(4, "Stealer") });
    await sendAll();
    expect(mails.subjects).toEqual(["High: the first scan found 6 people in data breaches at Test"]);
    expect(mails.texts[0]).toContain("* And 4 addresses that nobody watches");
    const other = await organizationOf(2, { first: true });
    const channelId = await createChannel(other);
    await scan(other, strangers(4, "Stealer"));
    expect(await deliveriesOf(other, channelId)).toEqual([]);
  });
});

test("Slack is told the same", async () => {
  const org = await organizationOf(2);
  const url = "https://192.0.32.8/services/T000/B000/x";
  const channelId = await createChannel(org, {}, { channel: "slack", config: { webhookUrl: url } });
  await scan(org, strangers(1, "Stealer"));
  const [row] = await deliveriesOf(org, channelId);
  const channel = await channels.get(org, channelId);
  const content = row && channel && (await readContent(org, row, channel));
  expect(content).toMatchObject({ kind: "unwatched", severity: "critical", count: 1 });
});
