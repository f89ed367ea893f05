/** What later answers of HIBP change of addresses that nobody watches. */
import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { remove as removeEmail } from "../../../shared/findings/email-removal.ts";
import * as catalog from "../../../shared/hibp/catalog.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { ignore } from "../../../shared/monitoring/unwatched/change.ts";
import * as ofScan from "../../../shared/monitoring/unwatched/of-scan.ts";
import { countByBreach, roots, severeAt } from "../../../shared/monitoring/unwatched/store.ts";
import { list } from "../../../shared/monitoring/unwatched/unwatched-list.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { describeBreach, domain, useBreachedPeople } from "../../alerting/breached-people.ts";

const { scan, organizationOf } = useBreachedPeople();

/** The index of the first address that nobody watches, in an organization that watches one. */
const stranger = 1;
const addressOf = (index: number): string => `user${index}@${domain}`;

const describeBreaches = async () => {
  await describeBreach("Stealer", { severity: "critical", isStealerLog: true });
  await describeBreach("Leak", { severity: "high" });
  await describeBreach("Mild", { severity: "low" });
  return (await catalog.idsFor(["Stealer", "Leak", "Mild"])) as Map<string, number>;
};

const listed = async (org: number, query: Partial<Parameters<typeof list>[1]> = {}) =>
  (await list(org, { limit: 100, offset: 0, ...query })).addresses.map(({ email }) => email);

const severe = async (org: number): Promise<string | undefined> => severeAt(await roots(org));

test("a stealer log that names an address later is severe news, its first in the list", async () => {
  const ids = await describeBreaches();
  const org = await organizationOf(1, { first: true });
  const first = await scan(org, { [stranger]: ["Leak"], 2: ["Leak"], 3: ["Leak"] });
  expect(await severe(org)).toBeUndefined();
  expect(await ofScan.read(org, [first])).toEqual({
    scanCount: 1,
    news: new Map(),
    first: new Map([[3, 3]]),
    byBreach: new Map(),
  });

  const second = await scan(org, { [stranger]: ["Leak"], 2: ["Leak", "Mild"], 3: ["Leak", "Stealer"] });
  const { addresses } = await list(org, { limit: 100, offset: 0, order: "newest" });
  const [changed] = addresses;
  expect(changed?.lastNewAt).toBe(await severe(org));
  expect(Date.parse(changed?.lastNewAt ?? "")).toBeGreaterThan(Date.parse(changed?.firstSeenAt ?? ""));
  expect(await listed(org, { order: "severity" })).toEqual([3, 2, stranger].map(addressOf));
  expect(await ofScan.read(org, [second])).toEqual({
    scanCount: 1,
    news: new Map([
      [1, 1],
      [4, 1],
    ]),
    first: new Map(),
    byBreach: new Map([
      [ids.get("Stealer"), 1],
      [ids.get("Mild"), 1],
    ]),
  });
  expect(await countByBreach(org)).toEqual(
    new Map([
      [ids.get("Leak"), 3],
      [ids.get("Mild"), 1],
      [ids.get("Stealer"), 1],
    ]),
  );
  expect(await listed(org, { breachId: ids.get("Stealer") })).toEqual([addressOf(3)]);

  // Once it is ignored, nothing severe is left.
  await ignore(org, { ids: [changed?.id ?? 0, addresses[1]?.id ?? 0] }, true, administrator);
  const { addresses: left } = await list(org, { limit: 100, offset: 0, ignored: false });
  expect(left).toHaveLength(1);
  expect((await audit(org)).differences).toEqual([]);
});

test("news is also what comes after answers that named nobody", async () => {
  await describeBreaches();
  const org = await organizationOf(1);
  const scanId = await scan(org, { [stranger]: ["Stealer"] });
  expect(await severe(org)).toBeDefined();
  expect((await ofScan.read(org, [scanId])).news).toEqual(new Map([[4, 1]]));
});

test("ignored addresses come back when a later breach of high or above names them", async () => {
  const ids = await describeBreaches();
  const org = await organizationOf(1);
  const before = { [stranger]: ["Leak"], 2: ["Leak"], 3: ["Mild"], 4: ["Mild"] };
  await scan(org, before);
  const { addresses } = await list(org, { limit: 100, offset: 0 });
  await ignore(org, { ids: addresses.map(({ id }) => id) }, true, administrator);
  expect(await severe(org)).toBeUndefined();
  // One that vanishes, and one in a breach that is mild.
  await scan(org, { 2: ["Leak"], 3: ["Mild"], 4: ["Mild", "Other"] });
  expect(await listed(org, { ignored: false })).toEqual([]);
  const scanId = await scan(org, { ...before, 2: ["Leak", "Stealer"], 3: ["Mild", "Stealer"] });
  expect(await listed(org, { ignored: false })).toEqual([addressOf(2), addressOf(3)]);
  expect(await listed(org, { ignored: true })).toEqual([4, stranger].map(addressOf));
  const [back] = (await list(org, { limit: 1, offset: 0, ignored: false })).addresses;
  expect(back?.firstSeenAt).toBe(addresses.find(({ email }) => email === back?.email)?.firstSeenAt);
  expect(await ofScan.read(org, [scanId])).toMatchObject({
    news: new Map([[4, 2]]),
    byBreach: new Map([[ids.get("Stealer"), 2]]),
  });
  expect((await audit(org)).differences).toEqual([]);
});

test("an address that was watched and removed is no news with what was known of it", async () => {
  await describeBreaches();
  const org = await organizationOf(2);
  const breached = { 0: ["Stealer"], 1: ["Stealer"] };
  await scan(org, breached);
  const { emails } = await emailList.list(org, { limit: 10, offset: 0 });
  const left = emails.find(({ email }) => email === addressOf(1));
  await removeEmail(org, left?.id ?? 0, administrator);
  const scanId = await scan(org, breached);
  expect(await listed(org)).toEqual([addressOf(1)]);
  expect(await severe(org)).toBeUndefined();
  expect((await ofScan.read(org, [scanId])).news).toEqual(new Map());
  // What comes later is.
  await describeBreach("Stealer 2", { severity: "critical" });
  const next = await scan(org, { ...breached, 1: ["Stealer", "Stealer 2"] });
  expect((await ofScan.read(org, [next])).news).toEqual(new Map([[4, 1]]));
});

test("many are ignored by what they have in common, and exactly these come back", async () => {
  const ids = await describeBreaches();
  const org = await organizationOf(1);
  const strangers = Array.from({ length: 60 }, (_, index) => [
    stranger + index,
    index < 50 ? ["Leak"] : ["Mild"],
  ]);
  await scan(org, Object.fromEntries(strangers));
  const open = () => listed(org, { ignored: false });
  const before = await open();
  const [one] = (await list(org, { limit: 1, offset: 0, breachId: ids.get("Leak") })).addresses;
  await ignore(org, { ids: [one?.id ?? 0] }, true, administrator);
  const filter = { breachId: ids.get("Leak"), newBefore: new Date().toISOString() };
  const { changed, at } = await ignore(org, { filter }, true, administrator);
  expect(changed).toBe(49);
  expect(await open()).toHaveLength(10);
  expect(await ignore(org, { filter: { ignoredAt: at } }, false, administrator)).toMatchObject({
    changed: 49,
  });
  expect(await open()).toEqual(before.filter((email) => email !== one?.email));
  // Whatever is new of an address since the page was loaded has to be seen first.
  const early = { newBefore: one?.lastNewAt };
  expect(await ignore(org, { filter: early }, true, administrator)).toMatchObject({ changed: 0 });
});

test("addresses are found by their beginning and that of their domain", async () => {
  const org = await organizationOf(1);
  await scan(org, { [stranger]: ["Mild"], 21: ["Mild"], 22: ["Mild"] });
  expect(await listed(org, { q: "USER2" })).toEqual([addressOf(21), addressOf(22)]);
  for (const q of ["@acme", "acme.ex", " user"]) expect(await listed(org, { q })).toHaveLength(3);
  for (const q of ["ser2", "example"]) expect(await listed(org, { q })).toEqual([]);
});
