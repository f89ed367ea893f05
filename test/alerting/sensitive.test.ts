/** Nobody learns from a message whose address is in a sensitive breach. */
import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { readContent } from "../../shared/alerting/messages/content.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import {
  deliveriesOf,
  describeBreach,
  expectEachToldOnce,
  inBreaches,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel, defaults, webhook } from "./channels.ts";
import { attemptOf, mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

describe("a sensitive breach", () => {
  test("is told without names to a discreet channel, to no webhook", async () => {
    const org = await organizationOf(10);
    await catalog.idsFor(["Secret", "Open"]);
    await describeBreach("Secret", { isSensitive: true });
    const discreet = await createChannel(org);
    await createChannel(org, { sensitive: "discreet" }, webhook);
    await scan(org, { 0: ["Secret", "Open"], 1: ["Secret"] });
    expect(await deliveriesOf(org, discreet)).toHaveLength(1);
    await sendAll();
    expect(mails.subjects).toEqual(["Low: Open, data of 1 person, and a sensitive breach at Test"]);
    expect(mails.texts[0]).toContain("A sensitive breach: 2 people");
    expect(mails.texts[0]).not.toMatch(/Secret|user\d|emailId|breachId/);
    // A thread of the scan would lead to messages that name the person.
    expect(mails.references).toEqual([""]);
    await expectEachToldOnce(org, discreet);
    const hooks = (await channels.list(org)).filter(({ channel }) => channel === "webhook");
    const events = await deliveriesOf(org, hooks[0]?.id ?? 0);
    expect(events.map(({ event }) => event.type === "breach" && event.breachIds.length)).toEqual([1]);
  });

  test("beside another is one nameless message if grouped by address", async () => {
    const org = await organizationOf(10);
    await catalog.idsFor(["Secret", "Open"]);
    await describeBreach("Secret", { isSensitive: true });
    const channelId = await createChannel(org, { grouping: "address" });
    await scan(org, { 0: ["Secret", "Open"], 1: ["Open"] });
    await sendAll();
    expect(mails.subjects.toSorted()).toEqual([
      "A sensitive breach: 1 person at Test",
      "Low: Open, data of 1 person at Test",
    ]);
    expect(mails.texts.join()).not.toMatch(/Secret|user0@/);
    await expectEachToldOnce(org, channelId);
  });

  /** What an e-mail channel is told of a scan, without ids and order. */
  const toldOf = async (
    breached: Record<number, string[]>,
    options: Partial<AlertOptions>,
    first = false,
  ): Promise<string[]> => {
    const org = await organizationOf(10, { first });
    await catalog.idsFor(["Secret", "Open"]);
    await describeBreach("Secret", { isSensitive: true });
    const channelId = await createChannel(org, options);
    await scan(org, breached);
    const before = mails.texts.length;
    await sendAll();
    for (const row of await deliveriesOf(org, channelId))
      if (row.status === "pending") await attemptOf(org, row);
    await expectEachToldOnce(org, channelId);
    return mails.texts
      .slice(before)
      .map((text, index) =>
        [mails.subjects[before + index], mails.references[before + index], text.replace(/\n-- .*/s, "")]
          .join("\n")
          .replace(/(?<=(?:emailId|finding|scanId)=|breach-|scan-)\d+/g, "…"),
      )
      .toSorted();
  };

  const six = inBreaches(6, "Open");
  test.each<
    [what: string, breached: Record<number, string[]>, options: Partial<AlertOptions>, first?: boolean]
  >([
    ["a day", inBreaches(1, "Open"), { grouping: "day" }],
    ["a scan of few people", inBreaches(3, "Open"), {}],
    ["a scan of many people", six, {}],
    ["a first scan", six, {}, true],
  ])("of %s is told in the same words whoever it concerns", async (_, breached, options, first) => {
    // Of somebody whom the scan found in another breach too, and of somebody else.
    const told = await toldOf({ ...breached, 0: ["Open", "Secret"] }, options, first);
    expect(told).toEqual(await toldOf({ ...breached, 9: ["Secret"] }, options, first));
    const sensitive = told.filter((text) => text.includes("ensitive breach: 1 person"));
    expect(sensitive).toHaveLength(1);
    expect(sensitive[0]).not.toMatch(/Secret|@|Id=|breach-…|scan-…/);
    expect(told).toHaveLength(1);
  });
});

test("a webhook that became discreet gets no sensitive breach of events from before", async () => {
  const org = await organizationOf(3);
  await catalog.idsFor(["Secret", "Open"]);
  await describeBreach("Secret", { isSensitive: true });
  const channelId = await createChannel(org, {}, webhook);
  await scan(org, { 0: ["Secret", "Open"], 1: ["Secret"] });
  const before = (await channels.get(org, channelId)) as channels.Channel;
  await setOptions(org, channelId, { ...defaults, grouping: "address" }, administrator);
  const after = (await channels.get(org, channelId)) as channels.Channel;
  const rows = await deliveriesOf(org, channelId);
  const titlesFor = async (channel: channels.Channel) =>
    Promise.all(
      rows.map(async (row) => {
        const content = await readContent(org, row, channel);
        return content?.kind === "event" ? content.breaches.map(({ title }) => title).toSorted() : content;
      }),
    );
  expect(await titlesFor(before)).toEqual([["Open", "Secret"], ["Secret"]]);
  expect(await titlesFor(after)).toEqual([["Open"], undefined]);
});
