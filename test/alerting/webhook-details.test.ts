/** What a webhook with the option `details` gets, and how many events with the grouping `scan`. */
import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as deliveryList from "../../shared/alerting/attempts/delivery-list.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as event from "../../shared/alerting/event.ts";
import { envelope } from "../../shared/alerting/kinds/webhook/envelope.ts";
import { readContent } from "../../shared/alerting/messages/content.ts";
import { exampleFor } from "../../shared/alerting/messages/example.ts";
import { eventOf } from "../../shared/alerting/messages/told.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { remove as removeEmail } from "../../shared/findings/email-removal.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { reserve } from "../../shared/lists/blocks.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { addFindings } from "../findings/acknowledgements/findings.ts";
import { takeMessages } from "../scanning/in-process-workers.ts";
import {
  deliveriesOf,
  describeBreach,
  expectEachToldOnce,
  findingsOf,
  inBreaches,
  rowsOf,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel, defaults, raiseTo, webhook } from "./channels.ts";
import { attempt, attemptOf } from "./mail-deliveries.ts";
import { dashboardUrl } from "./notice.ts";

const { scan, organizationOf } = useBreachedPeople();

const hook: AlertOptions = { ...defaults, grouping: "address", sensitive: "named", details: true };
const byScan: AlertOptions = { ...hook, grouping: "scan" };

/** Splits what a scan has gathered, as the worker does before it sends anything. */
const split = async (org: number): Promise<void> => {
  for (const message of await takeMessages("deliveries")) {
    const row = await deliveries.get(org, message.deliveryId);
    if (row?.event.type === "gathered" && row.event.found === undefined) await attempt(message);
  }
};

type Data = {
  breaches: { breachId: number; title: string }[];
  details?: { people: number; findings: { id: number; email: string; breach: { title: string } }[] } & Record<
    string,
    unknown
  >;
};

/** The bodies that the channel's deliveries post, by the title of their first breach. */
const eventsOf = async (org: number, channelId: number): Promise<Data[]> => {
  const channel = (await channels.get(org, channelId)) as channels.Channel;
  const bodies = await Promise.all(
    (await deliveriesOf(org, channelId)).map(async (row): Promise<Data> => {
      const content = await readContent(org, row, channel);
      if (content === undefined) throw new Error("There is nothing to tell");
      return JSON.parse(envelope({ ...eventOf(content, dashboardUrl), id: row.id, at: new Date() })).data;
    }),
  );
  const titleOf = ({ breaches }: Data): string => breaches[0]?.title ?? "";
  return bodies.toSorted((one, other) => (titleOf(one) < titleOf(other) ? -1 : 1));
};

describe("details", () => {
  test("severity, people, findings and a page, beside the contract's fields", async () => {
    const org = await organizationOf(3);
    await catalog.idsFor(["Alpha", "Beta"]);
    await describeBreach("Alpha", { severity: "low" });
    await describeBreach("Beta", { severity: "critical", isStealerLog: true });
    const channelId = await createChannel(org, hook, webhook);
    const plain = await createChannel(org, {}, webhook);
    await scan(org, { 0: ["Alpha", "Beta"] });
    const [told] = await eventsOf(org, channelId);
    const [email] = (await rowsOf(org, emails)).filter((row) => row.email.startsWith("user0@"));
    expect(told).toMatchObject({
      breaches: [{ title: "Beta" }, { title: "Alpha" }],
      details: {
        severity: "critical",
        isStealerLog: true,
        isSensitive: false,
        people: 1,
        url: `${dashboardUrl}/emails/${email?.id}`,
      },
    });
    const found = await findingsOf(org);
    expect(told?.details?.findings.map(({ id }) => id).toSorted()).toEqual(
      found.map(({ id }) => id).toSorted(),
    );
    expect(told?.details?.findings.map(({ breach }) => breach.title)).toEqual(["Beta", "Alpha"]);
    // Exactly the contract's fields where the option is off.
    const { details: _, ...contract } = told as Data;
    expect(await eventsOf(org, plain)).toEqual([contract]);
  });

  test("name at most 50 findings, none of removed e-mails or hidden breaches", async () => {
    const org = await organizationOf(60);
    await catalog.idsFor(["Alpha", "Secret"]);
    await describeBreach("Secret", { isSensitive: true });
    const channelId = await createChannel(org, byScan, webhook);
    await scan(org, { ...inBreaches(60, "Alpha"), 59: ["Alpha", "Secret"] });
    await split(org);
    const [alpha, secret] = await eventsOf(org, channelId);
    expect(alpha?.details).toMatchObject({ people: 60 });
    expect(alpha?.details?.findings).toHaveLength(50);
    expect(secret?.details).toMatchObject({ people: 1, isSensitive: true });
    const removed = alpha?.details?.findings[0];
    const row = (await findingsOf(org)).find(({ id }) => id === removed?.id);
    await removeEmail(org, row?.emailId ?? 0, administrator);
    await setOptions(org, channelId, { ...byScan, sensitive: "discreet" }, administrator);
    const channel = (await channels.get(org, channelId)) as channels.Channel;
    const contents = await Promise.all(
      (await deliveriesOf(org, channelId)).map((each) => readContent(org, each, channel)),
    );
    const left = contents.filter((content) => content !== undefined);
    expect(left).toMatchObject([{ kind: "event", people: 60 }]);
    expect(JSON.stringify(left)).not.toContain(`"${removed?.email}"`);
  });

  test.each(["address", "scan"] as const)("of an example by %s have ids of their own", (by) => {
    const { of } = exampleFor({ channel: "webhook", grouping: by, details: true } as channels.Channel);
    if (of.kind !== "event") throw new Error("A webhook gets an event");
    const { people, findings = [] } = of;
    expect(new Set(findings.map(({ id }) => id)).size).toBe(2);
    expect(new Set(findings.map(({ email }) => email)).size).toBe(people);
    expect(new Set(findings.map(({ emailId }) => emailId)).size).toBe(people);
  });
});

describe("the grouping scan", () => {
  test("makes one event per breach of a scan, with each finding once", async () => {
    const org = await organizationOf(9);
    const channelId = await createChannel(org, byScan, webhook);
    const scanId = await scan(org, { ...inBreaches(7, "Alpha"), 7: ["Beta"], 8: ["Alpha", "Beta"] });
    await split(org);
    await expectEachToldOnce(org, channelId);
    const [alpha, beta, ...more] = await eventsOf(org, channelId);
    expect(more).toEqual([]);
    expect(alpha).toMatchObject({ breaches: [{ title: "Alpha" }], details: { people: 8 } });
    expect(beta).toMatchObject({ breaches: [{ title: "Beta" }], details: { people: 2 } });
    expect(beta?.details?.url).toBe(`${dashboardUrl}/breaches/${beta?.breaches[0]?.breachId}`);
    const { deliveries: listed } = await deliveryList.list(org, channelId, { limit: 10, offset: 0 });
    expect(listed.map(({ title }) => title).toSorted()).toEqual(["Alpha: 8 people", "Beta: 2 people"]);
    const rows = await deliveriesOf(org, channelId);
    const read = await Promise.all(rows.map(({ id }) => event.get(org, id, new Date())));
    expect(read.map(({ scan, findings }) => [scan?.id, findings.length]).toSorted()).toEqual([
      [scanId, 2],
      [scanId, 8],
    ]);
  });

  test("makes one event of a first scan, also of few people", async () => {
    const org = await organizationOf(20, { first: true });
    await catalog.idsFor(["Worse", "Mild"]);
    await describeBreach("Worse", { severity: "high" });
    const channelId = await createChannel(org, byScan, webhook);
    const scanId = await scan(org, { ...inBreaches(3, "Mild"), 3: ["Worse"] });
    await split(org);
    expect(await eventsOf(org, channelId)).toMatchObject([
      {
        breaches: [{ title: "Worse" }, { title: "Mild" }],
        details: { severity: "high", people: 4, url: `${dashboardUrl}/findings?scanId=${scanId}` },
      },
    ]);
  });

  test("names no scan where several have found the people", async () => {
    const org = await organizationOf(3);
    const scanIds = [await scan(org, { 0: ["Alpha"] }), await scan(org, { 0: ["Alpha"], 1: ["Alpha"] })];
    const channelId = await createChannel(org, byScan, webhook);
    const [message] = await raiseTo(org, channelId, [{ type: "gathered" }], new Set(scanIds));
    if (message !== undefined) await attempt(message);
    const rows = await deliveriesOf(org, channelId);
    expect(rows).toMatchObject([{ event: { found: { people: 2 } } }]);
    expect(await event.get(org, rows[0]?.id ?? 0, new Date())).toMatchObject({ scan: null });
  });

  test("makes none where all is below the least severity or hidden", async () => {
    const org = await organizationOf(5);
    await catalog.idsFor(["Mild", "Secret"]);
    await describeBreach("Mild", { severity: "low" });
    await describeBreach("Secret", { severity: "high", isSensitive: true });
    const options = { ...byScan, minSeverity: "medium", sensitive: "discreet" } as const;
    const channelId = await createChannel(org, options, webhook);
    await scan(org, {});
    await scan(org, { 0: ["Mild"], 1: ["Secret"] });
    await split(org);
    expect(await deliveriesOf(org, channelId)).toEqual([]);
  });

  test("splits a scan of 200 breaches once, even if messages repeat", async () => {
    const org = await organizationOf(2);
    const channelId = await createChannel(org, byScan, webhook);
    const scanId = 4_711;
    const [email] = await rowsOf(org, emails);
    const found = Array.from({ length: 200 }, (_, index) => index + 1);
    for (const some of chunk(found, 20))
      await addFindings(
        org,
        some.map((breachId) => ({ emailId: email?.id ?? 0, breachId, scanId })),
        await reserve(org, "FINDING", some.length),
      );
    const [message] = await raiseTo(org, channelId, [{ type: "gathered", scanId }], new Set([scanId]));
    if (message === undefined) throw new Error("There is no message");
    await Promise.all([attempt(message), attempt(message)]);
    const sent = (await takeMessages("delivery-retries")).filter(
      ({ organizationId }) => organizationId === org,
    );
    expect(sent).toHaveLength((await deliveriesOf(org, channelId)).length - 1);
    await attempt(message);
    for (const row of await deliveriesOf(org, channelId)) {
      if (row.event.type === "gathered" && row.event.found === undefined) await attemptOf(org, row);
    }
    const rows = await deliveriesOf(org, channelId);
    expect(rows.every(({ event }) => event.type === "gathered" && event.found !== undefined)).toBe(true);
    expect(rows).toHaveLength(200);
    await expectEachToldOnce(org, channelId);
  });

  test("whose channel becomes one for people tells the rest to them", async () => {
    const org = await organizationOf(20);
    // Events are in the order of their breaches' ids. No other test of this file has these breaches.
    for (const name of ["Earlier", "Later"]) await catalog.idsFor([name]);
    const channelId = await createChannel(org, byScan, webhook);
    const strangers = { 50: ["Earlier"] };
    await scan(org, { 0: ["Earlier"], ...strangers });
    const inLater = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [10 + index, ["Later"]]));
    await scan(org, {
      0: ["Earlier"],
      ...inBreaches(8, "Earlier"),
      ...inLater,
      51: ["Earlier"],
      ...strangers,
    });
    await split(org);
    const slack = { channel: "slack", grouping: "scan", details: false };
    await table.update(keys.channel(org, channelId), { set: slack });
    const channel = (await channels.get(org, channelId)) as channels.Channel;
    const contents = await Promise.all(
      (await deliveriesOf(org, channelId)).map((row) => readContent(org, row, channel)),
    );
    // Each says what it is about, and none what the other messages and webhooks' receivers are told.
    expect(contents).toMatchObject([
      { kind: "person", breaches: [{ title: "Earlier" }], unwatched: undefined },
      { breaches: [{ title: "Earlier" }], inAll: { people: 7, findings: 7, more: 0 }, unwatched: undefined },
      { breaches: [{ title: "Later" }], inAll: { people: 6, findings: 6, more: 0 }, unwatched: undefined },
    ]);
  });
});
