/** What is told of findings that rules end as a scan records them, and of those that are open again. */
import { expect, test } from "vitest";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { ownersChannel } from "../../shared/alerting/owners/owner.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import { expectAgreement, readFindings } from "../findings/acknowledgements/findings.ts";
import {
  ada,
  logOf,
  setBreach,
  setPerson,
  settleRules,
  stateOf,
  switchRule,
} from "../findings/rules/organizations.ts";
import { runOutbox } from "../scanning/in-process-workers.ts";
import { deliveriesOf, describeBreach, inBreaches, rowsOf, useBreachedPeople } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";
import { mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

const [newsletter, shop] = ["Newsletter", "Shop"];

/** An organization that ends low findings, with a breach of names and one of credit cards. */
const prepared = async (people = 10) => {
  const org = await organizationOf(people);
  await describeBreach(newsletter, { title: newsletter, dataClasses: ["Names"], severity: "low" });
  await describeBreach(shop, { title: shop, dataClasses: ["Credit cards"], severity: "high" });
  await switchRule(org, "harmless", true);
  await settleRules(org);
  return org;
};

const idOf = async (name: string): Promise<number> => (await catalog.idsFor([name])).get(name) ?? 0;

const emailIdsOf = async (org: number): Promise<number[]> => (await rowsOf(org, emails)).map(({ id }) => id);

test("what ends as it is recorded makes no message, and its event for webhooks", async () => {
  const org = await prepared();
  const all = await Promise.all([
    createChannel(org),
    createChannel(org, { grouping: "address", tellOwners: true }),
    createChannel(org, {}, webhook),
  ]);
  const scanId = await scan(org, inBreaches(3, newsletter));
  await sendAll();
  expect(mails.subjects).toEqual([]);
  const [mail = 0, single = 0, hook = 0] = all;
  expect((await deliveriesOf(org, mail)).length + (await deliveriesOf(org, single)).length).toBe(0);
  expect(await deliveriesOf(org, hook)).toHaveLength(3);
  expect(await deliveriesOf(org, ownersChannel.id)).toEqual([]);
  expect((await readFindings(org)).map(stateOf)).toEqual(["harmless", "harmless", "harmless"]);
  expect(await logOf(org)).toEqual([
    `system: Rule "Low severity" ended 3 breach findings of scan ${scanId} as ignored`,
  ]);
  await expectAgreement(org);
});

test("a message about others leaves out what ended, in its counts too", async () => {
  const org = await prepared();
  await createChannel(org);
  await createChannel(org, { grouping: "address" });
  await scan(org, { 0: [newsletter, shop], 1: [newsletter], 2: [shop] });
  await sendAll();
  expect(mails.subjects).toHaveLength(3);
  expect(mails.texts.join("\n")).toContain("New in all: 2 findings of 2 people.");
  expect(mails.texts.join("\n")).not.toContain(newsletter);
  expect(mails.texts.join("\n")).not.toContain("user1@");
});

test("facts that are taken back are told like new findings, once, and not to webhooks", async () => {
  const org = await prepared();
  await switchRule(org, "left", true);
  await settleRules(org);
  const ids = await emailIdsOf(org);
  for (const id of ids) await setPerson(org, id, { ...ada, leftAt: "2026-11-03T09:00:00.000Z" });
  const channel = await createChannel(org, { tellOwners: true });
  const hook = await createChannel(org, {}, webhook);
  await scan(org, inBreaches(2, shop));
  await sendAll();
  expect(mails.subjects).toEqual([]);
  const events = (await deliveriesOf(org, hook)).length;
  for (const id of ids) await setPerson(org, id, ada);
  await settleRules(org);
  await runOutbox();
  await sendAll();
  const toChannel = await deliveriesOf(org, channel);
  expect(toChannel.map(({ event }) => event.type)).toEqual(["gathered"]);
  expect(await deliveriesOf(org, ownersChannel.id)).toHaveLength(2);
  expect(mails.subjects).toHaveLength(3);
  const [text = ""] = mails.texts.filter((each) => each.includes("user0@") && each.includes("user1@"));
  expect(text).toContain(shop);
  expect(await deliveriesOf(org, hook)).toHaveLength(events);
  // Nothing is left to tell.
  await settleRules(org);
  await runOutbox();
  expect((await rowsOf(org, deliveries)).length).toBe(1 + 2 + events);
});

test("of a breach that rises, findings that a rule held are told of once, as new ones", async () => {
  const org = await prepared();
  const channel = await createChannel(org, { minSeverity: "high" });
  await scan(org, inBreaches(4, newsletter));
  const first = (await readFindings(org)).length;
  expect(first).toBe(4);
  await setBreach(org, await idOf(newsletter), {
    name: newsletter,
    title: newsletter,
    dataClasses: ["Names", "Passwords"],
  });
  await settleRules(org);
  await runOutbox();
  await sendAll();
  expect((await readFindings(org)).map(stateOf)).toEqual(Array(4).fill("open"));
  expect((await deliveriesOf(org, channel)).map(({ event }) => event.type).sort()).toEqual(["gathered"]);
  await expectAgreement(org);
});

test("a fact that changes while a scan records is not missed", async () => {
  const org = await prepared(4);
  await describeBreach("Login", {
    title: "Login",
    dataClasses: ["Passwords"],
    severity: "high",
    breachDate: "2026-01-31",
  });
  await switchRule(org, "password_changed", true);
  const [one = 0, other = 0] = (await emailIdsOf(org)).sort((first, second) => first - second);
  await setPerson(org, one, ada);
  await settleRules(org);
  // Just before the transaction that records the findings, which a rule ends in part.
  const changes = onTableRequest({ text: '"isToldApart"' }, "before", () =>
    setPerson(org, one, { ...ada, passwordChangedAt: "2026-11-03T09:00:00.000Z" }),
  );
  await scan(org, { 0: ["Login", newsletter], 1: ["Login"] });
  expect(changes.happened).toBe(true);
  const states = (await readFindings(org)).map((row) => `${row.emailId} ${row.breachId} ${stateOf(row)}`);
  const [ofLogin, ofNewsletter] = [await idOf("Login"), await idOf(newsletter)];
  expect(states.sort()).toEqual(
    [
      `${one} ${ofLogin} password_changed`,
      `${one} ${ofNewsletter} harmless`,
      `${other} ${ofLogin} open`,
    ].sort(),
  );
  await expectAgreement(org);
});
