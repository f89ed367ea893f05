import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as counts from "../../shared/counts/counts.ts";
import * as news from "../../shared/counts/news.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as acknowledging from "../../shared/findings/finding.ts";
import { findings } from "../../shared/findings/record.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { createOrganization, runChecks, startAndPlan, useWorkers } from "../scanning/in-process-workers.ts";

const domain = "counted.example";
const breachNames = Array.from({ length: 60 }, (_, index) => `Breach${index}`);
const workers = useWorkers({ breached: { [domain]: {} } });

/**
 * The audit compares the counts, the news, the dates of breaches, and each e-mail's worst open finding with
 * the rows. A test below shows that it sees a difference of each kind.
 */
const expectExact = async (org: number): Promise<void> => {
  const { differences, unsettled } = await audit(org);
  expect({ differences, unsettled }).toEqual({ differences: [], unsettled: [] });
};

/** Scans 12 addresses. The first is breached in all breaches, nine more in a few, and two in none. */
const createScanned = async (): Promise<{ org: number; emailIds: number[] }> => {
  workers.breached[domain] = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [
      index,
      breachNames.slice(index === 0 ? 0 : index * 4, index === 0 ? 60 : index * 4 + 6),
    ]),
  );
  const org = await createOrganization({ [domain]: 12 });
  await startAndPlan(org);
  await runChecks();
  const { emails: listed } = await emailList.list(org, { limit: 100, offset: 0 });
  const byAddress = new Map(listed.map(({ id, email }) => [email, id]));
  const emailIds = Array.from({ length: 12 }, (_, index) => byAddress.get(`user${index}@${domain}`) ?? 0);
  return { org, emailIds };
};

const openIds = async (org: number): Promise<number[]> =>
  (await acknowledging.list(org, { limit: 100, offset: 0, acknowledged: false })).breaches.map(
    ({ id }) => id,
  );

const acknowledge = (org: number, id: number) =>
  acknowledging.acknowledge(org, { id, resolution: "handled" }, administrator);

describe("counts", () => {
  test("are those of the rows after every kind of change", async () => {
    const { org, emailIds } = await createScanned();
    const month = new Date().toISOString().slice(0, 7);
    const first = await counts.read(org);
    expect(first.byMonth).toEqual(new Map([[month, { open: 114, acknowledged: 0 }]]));
    expect(first.breachedEmails).toBe(10);
    // The first check of 60 breaches takes several transactions: all of them are history.
    expect(counts.historyOf(first)).toMatchObject({ findings: 114, open: 114 });
    expect(await news.read(org, new Date())).toMatchObject({ findings: 0, people: 0 });

    const open = await openIds(org);
    for (const id of [open[0], open[0], open[7], open[50]]) await acknowledge(org, id as number);
    expect(counts.totalOf(await counts.read(org))).toEqual({ open: 111, acknowledged: 3 });
    await expectExact(org);

    await monitored.setActive(org, emailIds[1] ?? 0, false, administrator);
    await monitored.setActive(org, emailIds[11] ?? 0, false, administrator);
    expect((await counts.read(org)).breachedEmails).toBe(9);
    // More findings than one transaction deletes, a few, none; of a disabled e-mail and of active ones.
    for (const index of [0, 1, 2, 10]) await removals.remove(org, emailIds[index] ?? 0, administrator);
    expect((await counts.read(org)).breachedEmails).toBe(7);
    await expectExact(org);
    await monitored.setActive(org, emailIds[11] ?? 0, true, administrator);

    // A finding disappears and comes back. An e-mail with findings gets new ones, and so does one without.
    const { 3: before = [], ...others } = workers.breached[domain] ?? {};
    workers.breached[domain] = { ...others, 3: ["Breach50"], 11: ["Breach1", "New"] };
    await startAndPlan(org);
    await runChecks();
    workers.breached[domain] = { ...workers.breached[domain], 3: before };
    await startAndPlan(org);
    await runChecks();
    // An e-mail that was enabled after its scan began would be left out.
    await expectExact(org);
    expect((await counts.read(org)).breachedEmails).toBe(8);
  });

  test("stay exact when the same findings are acknowledged by many at once", async () => {
    const { org } = await createScanned();
    const open = (await openIds(org)).slice(0, 6);
    // On a busy machine they take longer than people would wait.
    await withTimeOf(60_000, () =>
      Promise.all([...open, ...open, ...open].map((id) => acknowledge(org, id))),
    );
    expect(counts.totalOf(await counts.read(org))).toEqual({ open: 108, acknowledged: 6 });
    await expectExact(org);
  });

  test("stay exact while e-mails are removed and scanned at the same time", async () => {
    const { org, emailIds } = await createScanned();
    workers.breached[domain] = Object.fromEntries(
      emailIds.map((_, index) => [index, breachNames.slice(0, 20 + index)]),
    );
    await startAndPlan(org);
    const ids = await openIds(org);
    await withTimeOf(60_000, () =>
      Promise.all([
        runChecks(),
        ...[0, 4, 5, 10].map((index) => removals.remove(org, emailIds[index] ?? 0, administrator)),
        ...ids.slice(0, 20).map((id) => acknowledge(org, id).catch(() => {})),
      ]),
    );
    await expectExact(org);
  });
});

describe("an audit", () => {
  test("repairs wrong counts, and builds them where there are none", async () => {
    const { org } = await createScanned();
    const right = await counts.read(org);

    await table.update(keys.counts(org, "3"), { add: { "2020-01-1": 2, 7: -1, breached: 1 } });
    const found = await audit(org);
    expect(found.differences).toMatchObject([
      {
        kind: "counts",
        id: org,
        says: expect.stringContaining("2020-01-1 is 2, should be 0"),
        repaired: false,
      },
    ]);
    const today = new Date().toISOString().slice(0, 10);
    const [first] = (await findings.tally(org)).map(({ block }) => block);
    const [finding] = await findings.members(org, first ?? 0);
    const { breachId = 0, emailId = 0 } = finding ?? {};
    await table.update(keys.news(org, today, 3), { add: { [breachId]: -1 } });
    await table.remove(keys.breachDates(org, breachId));
    await table.update(emails.key(org, emailId), { add: { open4: 1 } });
    expect((await audit(org, { repair: true })).repairedCount).toBe(4);
    await expectExact(org);

    for (const row of await table.query<Key>({ pk: keys.counts(org, "").pk })) await table.remove(row);
    expect((await audit(org, { repair: true })).repairedCount).toBe(1);
    await expectExact(org);
    expect((await counts.read(org)).byBreach).toEqual(right.byBreach);
  });
});
