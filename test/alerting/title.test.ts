/** What the list of deliveries calls a message about many people. */
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as deliveryList from "../../shared/alerting/attempts/delivery-list.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { describeBreach, inBreaches, useBreachedPeople } from "./breached-people.ts";
import { createChannel, defaults } from "./channels.ts";
import { sendAll, useMailServer } from "./mail-deliveries.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

const titlesOf = async (org: number, channelId: number): Promise<string[]> =>
  (await deliveryList.list(org, channelId, { limit: 10, offset: 0 })).deliveries.map(({ title }) => title);

test("a message about many people is called by its worst breach and their number", async () => {
  const org = await organizationOf(20, { first: true });
  await describeBreach("Worse", { title: "PayrollPro", severity: "critical" });
  const channelId = await createChannel(org);
  await scan(org, inBreaches(12, "Worse"));
  expect(await titlesOf(org, channelId)).toEqual(["Summary of the first scan"]);
  await sendAll();
  expect(await titlesOf(org, channelId)).toEqual(["First scan, PayrollPro: 12 people"]);
  await scan(org, { ...inBreaches(12, "Worse"), ...inBreaches(6, "Worse", "Mild"), 12: ["Worse"] });
  await sendAll();
  expect((await titlesOf(org, channelId))[0]).toBe("PayrollPro and 1 more: 7 people");
});

test("a sensitive breach is not named, also if a channel becomes discreet later", async () => {
  const org = await organizationOf(20);
  await catalog.idsFor(["Secret"]);
  await describeBreach("Secret", { isSensitive: true });
  const [discreet, named] = [await createChannel(org), await createChannel(org, { sensitive: "named" })];
  await scan(org, inBreaches(8, "Secret"));
  await sendAll();
  expect(await titlesOf(org, discreet)).toEqual(["A sensitive breach: 8 people"]);
  expect(await titlesOf(org, named)).toEqual(["Secret: 8 people"]);
  await setOptions(org, named, { ...defaults, sensitive: "discreet" }, administrator);
  expect(await titlesOf(org, named)).toEqual(["A sensitive breach: 8 people"]);
});
