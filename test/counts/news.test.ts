/** What the overview says of new findings, and of history. */
import { expect, test } from "vitest";
import { read } from "../../functions/get-overview/overview.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { tellOwnersByHand } from "../../shared/alerting/owners/tell.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as acknowledging from "../../shared/findings/finding.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { createOrganization, runChecks, startAndPlan, useWorkers } from "../scanning/in-process-workers.ts";

const domain = "news.example";
const workers = useWorkers({ breached: { [domain]: {} } });

const scan = async (org: number, breached: Record<number, string[]>): Promise<void> => {
  workers.breached[domain] = breached;
  await startAndPlan(org);
  await runChecks();
};

const overview = async (org: number) => {
  const { news, history } = await read(org, new Date());
  const { differences, unsettled } = await audit(org);
  expect({ differences, unsettled }).toEqual({ differences: [], unsettled: [] });
  return { news, history };
};

const list = async (org: number, query: Partial<Parameters<typeof detailed.list>[1]> = {}) =>
  (await detailed.list(org, { limit: 100, offset: 0, ...query })).breaches;

const old = ["Alpha", "Beta"];

/** Three addresses with two old breaches each, then a new breach of all of them. */
const createScanned = async (): Promise<number> => {
  const org = await createOrganization({ [domain]: 4 });
  await scan(org, { 0: old, 1: old, 2: old });
  await scan(org, { 0: [...old, "Fresh"], 1: [...old, "Fresh"], 2: [...old, "Fresh"] });
  return org;
};

test("the first check of an address brings history, and later checks bring news", async () => {
  const org = await createScanned();
  const { news, history } = await overview(org);
  expect(history).toEqual({ findings: 6, open: 6, breaches: 2 });
  expect(news).toMatchObject({ findings: 3, open: 3, people: 3 });
  expect(news.breaches).toMatchObject([{ title: "Fresh", findings: 3, open: 3, told: 0 }]);
  const found = await list(org);
  expect(found.filter(({ isHistory }) => !isHistory).map(({ breach }) => breach.name)).toEqual(
    Array(3).fill("Fresh"),
  );

  // The fourth address is in a breach for the first time: it was checked before.
  await scan(org, { 0: [...old, "Fresh"], 1: [...old, "Fresh"], 2: [...old, "Fresh"], 3: ["Alpha"] });
  const later = await overview(org);
  expect(later.history).toEqual(history);
  expect(later.news).toMatchObject({ findings: 4, people: 4 });
});

test("acknowledging moves the headline, and a handled breach leaves it", async () => {
  const org = await createScanned();
  const fresh = (await list(org)).filter(({ isHistory }) => !isHistory);
  const acknowledge = (id = 0) =>
    acknowledging.acknowledge(org, { id, resolution: "handled" }, administrator);
  await acknowledge(fresh[0]?.id);
  expect((await overview(org)).news).toMatchObject({ findings: 3, open: 2, breaches: [{ open: 2 }] });
  for (const { id } of fresh) await acknowledge(id);
  expect((await overview(org)).news).toMatchObject({ findings: 3, open: 0, breaches: [] });
  for (const { id } of (await list(org)).filter(({ isHistory }) => isHistory).slice(0, 2))
    await acknowledge(id);
  expect((await overview(org)).history).toEqual({ findings: 6, open: 4, breaches: 2 });
});

test("findings say when their owners were told, and who was not told is one filter", async () => {
  const org = await createScanned();
  const [first, ...others] = (await list(org)).filter(({ isHistory }) => !isHistory);
  expect(await tellOwnersByHand(org, [first?.id ?? 0], administrator)).toBe(1);
  const { news } = await overview(org);
  expect(news.breaches).toMatchObject([{ findings: 3, told: 1 }]);
  const breachId = first?.breach.id;
  expect(await list(org, { told: true })).toMatchObject([
    { id: first?.id, ownerToldAt: expect.stringMatching(/Z$/) },
  ]);
  const untold = await list(org, { told: false, breachId });
  expect(untold.map(({ id }) => id)).toEqual(others.map(({ id }) => id));
  expect(untold.every(({ ownerToldAt }) => ownerToldAt === null)).toBe(true);
  expect((await list(org, { told: false, emailId: first?.emailId })).length).toBe(2);

  // Told again, and removed: the counts follow.
  expect(await tellOwnersByHand(org, [first?.id ?? 0, others[0]?.id ?? 0], administrator)).toBe(1);
  await removals.remove(org, first?.emailId ?? 0, administrator);
  const after = await overview(org);
  expect(after.news.breaches).toMatchObject([{ findings: 2, told: 1 }]);
  expect(after.history).toMatchObject({ findings: 4 });
});
