/** Findings follow the severity of their breach, whoever is at work and whoever dies. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { entries } from "../../../shared/access/activity/activity.ts";
import { service } from "../../../shared/access/activity/actor.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import { announce, announcement, follow } from "../../../shared/findings/acknowledgements/follow.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as single from "../../../shared/findings/finding.ts";
import { findings } from "../../../shared/findings/record.ts";
import type { Breach } from "../../../shared/hibp/breach.ts";
import { levelOf } from "../../../shared/hibp/severity.ts";
import { emails } from "../../../shared/monitoring/emails/record.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { invocation, takeMessage, useWorkers } from "../../scanning/in-process-workers.ts";
import {
  addFindings,
  changeSeverity,
  expectAgreement,
  idsInNewBlock,
  readFindings,
  requestAll,
  runWorkers,
  type Seeded,
  seedFindings,
  setSeverity,
  settle,
  somebody,
  sweepAt,
} from "./findings.ts";
import { killedAfter } from "./killed.ts";

useWorkers();

let breaches = 1_000;

/**
 * An organization with findings of a breach of its own, of severity low, in two blocks; half of them are acknowledged.
 */
const seedBreach = async (level = 1): Promise<Seeded & { breachId: number }> => {
  const { org, emailIds } = await seedFindings({ emailCount: 12, perEmail: 1, furtherBlocks: 0 });
  const breachId = ++breaches;
  await setSeverity(breachId, "low");
  const findingIds: number[] = [];
  for (const some of [emailIds.slice(0, 6), emailIds.slice(6)]) {
    const rows = some.map((emailId) => ({ emailId, breachId, severity: level }));
    findingIds.push(...(await addFindings(org, rows, await idsInNewBlock(org, rows.length))));
  }
  for (const id of findingIds.filter((_, index) => index % 2 === 0)) {
    await single.acknowledge(org, { id, resolution: "handled" }, somebody);
  }
  return { org, emailIds, findingIds, breachId };
};

const levelsOf = async (org: number, breachId: number) => {
  const rows = (await readFindings(org)).filter((row) => row.breachId === breachId);
  const groups = rows.map((row) => findings.groupOf(row));
  return {
    levels: [...new Set(groups.map(({ severity }) => severity))],
    open: groups.filter(({ acknowledged }) => !acknowledged).length,
    acknowledged: groups.filter(({ acknowledged }) => acknowledged).length,
  };
};

const reopenings = async (org: number) => {
  const { items } = await entries.page(org, { limit: 100, offset: 0 });
  return items
    .filter(({ action }) => action === "findings.reopened")
    .map(({ summary, actor }) => ({ summary, actor }));
};

test("a rise to high reopens what was acknowledged, once, with one log entry", async () => {
  const { org, findingIds, breachId } = await seedBreach();
  await changeSeverity(org, breachId, "high");
  await settle(org);
  expect(await levelsOf(org, breachId)).toEqual({ levels: [3], open: 12, acknowledged: 0 });
  const summary = `Reopened 6 breach findings of Breach ${breachId}, whose severity has risen to high`;
  expect(await reopenings(org)).toEqual([{ summary, actor: service }]);
  await expectAgreement(org);
  // What is acknowledged now stays so.
  await single.acknowledge(org, { id: findingIds[0] ?? 0, resolution: "handled" }, somebody);
  await changeSeverity(org, breachId, "high");
  await settle(org);
  expect(await levelsOf(org, breachId)).toMatchObject({ open: 11, acknowledged: 1 });
  expect(await reopenings(org)).toHaveLength(1);
});

test.each([
  ["a rise to medium", 1, "medium", 2],
  ["a fall", 4, "low", 1],
  ["a fall to high", 4, "high", 3],
] as const)("%s changes the severity and reopens nothing", async (_, before, severity, level) => {
  const { org, breachId } = await seedBreach(before);
  await changeSeverity(org, breachId, severity);
  await settle(org);
  expect(await levelsOf(org, breachId)).toEqual({ levels: [level], open: 6, acknowledged: 6 });
  expect(await reopenings(org)).toEqual([]);
  await expectAgreement(org);
});

test("people's requests and the service's do not refuse each other, nor lose anything", async () => {
  const { org, breachId } = await seedBreach();
  await changeSeverity(org, breachId, "critical");
  expect(await follow(org)).toBe(true);
  const { id, matching } = await requestAll(org, { breachId });
  expect(matching).toBe(12);
  await Promise.all([runWorkers(), runWorkers()]);
  await settle(org);
  expect((await acknowledgements.get(org, id)).status).toBe("completed");
  expect((await levelsOf(org, breachId)).levels).toEqual([4]);
  await expectAgreement(org);
});

test("a request of people leaves alone what has followed its breach since", async () => {
  const { org, breachId } = await seedBreach();
  await acknowledgements.request(org, { filter: { breachId }, resolution: "handled" }, somebody);
  const message = await takeMessage("acknowledgements");
  await changeSeverity(org, breachId, "high");
  await settle(org);
  await work(message, invocation());
  // They were acknowledged as low, and stay reopened.
  expect(await levelsOf(org, breachId)).toEqual({ levels: [3], open: 12, acknowledged: 0 });
  await expectAgreement(org);
});

test("a change while findings follow another one is followed too", async () => {
  const { org, findingIds, breachId } = await seedBreach();
  await changeSeverity(org, breachId, "high");
  expect(await follow(org)).toBe(true);
  const message = await takeMessage("acknowledgements");
  const transaction = onTableRequest(findings.key(org, findingIds[0] ?? 0), "before", () =>
    changeSeverity(org, breachId, "medium"),
  );
  await work(message, invocation());
  expect(transaction.happened).toBe(true);
  await settle(org);
  expect((await levelsOf(org, breachId)).levels).toEqual([2]);
  await expectAgreement(org);
});

test("the lock stays while a scan is in progress, which may know the old severity", async () => {
  const { org, emailIds, breachId } = await seedBreach(4);
  await changeSeverity(org, breachId, "critical");
  await table.put({ ...keys.scanLock(org), scanId: 77 });
  await sweepAt(keys.severityLock(org));
  expect(await table.get(keys.severityLock(org))).toBeDefined();
  const other = ++breaches;
  await setSeverity(other, "high");
  const late = [{ emailId: emailIds[0] ?? 0, breachId: other, severity: 1 }];
  await addFindings(org, late, await idsInNewBlock(org, 1));
  await table.remove(keys.scanLock(org));
  await settle(org);
  expect((await levelsOf(org, other)).levels).toEqual([3]);
  await expectAgreement(org);
});

test("while a sync writes the catalog, nothing is looked at and nothing forgotten", async () => {
  const { org, breachId } = await seedBreach();
  await table.update(keys.breachNames(), { set: { token: "of a sync that is writing" } });
  await table.transact([announcement(org)]);
  await sweepAt(keys.severityLock(org));
  expect(await table.get(keys.severityLock(org))).toBeDefined();
  await setSeverity(breachId, "medium");
  await table.update(keys.breachNames(), { remove: ["token"] });
  await settle(org);
  expect((await levelsOf(org, breachId)).levels).toEqual([2]);
});

test("an announcement while the lock is taken away keeps it", async () => {
  const { org, breachId } = await seedBreach();
  await table.transact([announcement(org)]);
  // The condition of the removal names what was announced.
  const removing = onTableRequest("a lock as it was read", "before", () =>
    changeSeverity(org, breachId, "high"),
  );
  await follow(org);
  expect(removing.happened).toBe(true);
  await settle(org);
  expect((await levelsOf(org, breachId)).levels).toEqual([3]);
});

test("admin check finds findings with another severity, and has them follow", async () => {
  const { org, breachId } = await seedBreach();
  await setSeverity(breachId, "medium");
  const { differences } = await audit(org);
  expect(differences).toEqual([
    {
      kind: "breach",
      id: breachId,
      says: "12 findings do not have its severity, which is medium",
      repaired: false,
    },
  ]);
  expect((await audit(org, { repair: true })).differences).toMatchObject([{ repaired: true }]);
  await settle(org);
  expect((await levelsOf(org, breachId)).levels).toEqual([2]);
  await expectAgreement(org);
});

test("a worker that dies at any of its requests is followed by one that finishes", async () => {
  const first = await seedBreach();
  await changeSeverity(first.org, first.breachId, "high");
  const act = async (org: number) => {
    await follow(org);
    await runWorkers();
  };
  const requests = await killedAfter(Number.POSITIVE_INFINITY, () => act(first.org));
  expect(requests).toBeGreaterThan(10);
  // Every ninth one; the long test of kills is about the same worker.
  for (let number = 1; number <= requests; number += 9) {
    const { org, breachId } = await seedBreach();
    await changeSeverity(org, breachId, "high");
    await killedAfter(number, () => act(org));
    await settle(org);
    expect(await levelsOf(org, breachId)).toEqual({ levels: [3], open: 12, acknowledged: 0 });
    expect(await reopenings(org)).toHaveLength(1);
    await expectAgreement(org);
  }
});

test("every organization is told, and forgets it when nothing differs", async () => {
  const { org } = await seedBreach();
  await announce();
  expect(await table.get(keys.severityLock(org))).toMatchObject({ announced: 1 });
  await settle(org);
  await expectAgreement(org);
});

test("after random histories with kills, all rows agree, and with the catalog", async () => {
  const seed = Number(process.env.SEED ?? 20_300_101);
  const drawn = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: 1_000 });
  const pick = (below: number): number => (drawn.pop() ?? 0) % below;
  const { org, emailIds } = await seedFindings({ emailCount: 12, perEmail: 1, furtherBlocks: 0 });
  const ids = [++breaches, ++breaches, ++breaches];
  const severities = ["low", "medium", "high", "critical"] as const;
  for (const id of ids) await setSeverity(id, "low");
  const present = (): Promise<number[]> => readFindings(org).then((rows) => rows.map(({ id }) => id));
  const moves: Record<string, () => Promise<unknown>> = {
    scan: async () => {
      // These findings are of no scan, so that a request could not tell that they are newer.
      if ((await table.get(keys.acknowledgementLock(org))) !== undefined) return;
      const breachId = ids[pick(3)] ?? 0;
      const [stored, rows] = [
        await table.get<Breach>(keys.breach(breachId)),
        await emails.getMany(org, emailIds),
      ];
      const level = levelOf(stored?.severity ?? "low");
      const without = rows.filter((row) => row !== undefined && row.findings[breachId] === undefined);
      const given = without.slice(0, 5).map((row) => ({ emailId: row?.id ?? 0, breachId, severity: level }));
      await addFindings(org, given, await idsInNewBlock(org, given.length));
    },
    acknowledge: async () => {
      const all = await present();
      const id = all[pick(all.length)] ?? 0;
      await single.acknowledge(org, { id, resolution: "ignored" }, somebody);
    },
    acknowledgeMany: () => requestAll(org, { severity: [severities[pick(4)] ?? "low", "high"] }),
    reopenMany: () =>
      acknowledgements.request(org, { filter: pick(2) === 0 ? {} : { breachId: ids[pick(3)] } }, somebody),
    changeSeverity: () => changeSeverity(org, ids[pick(3)] ?? 0, severities[pick(4)] ?? "low"),
    remove: async () => {
      const id = emailIds[pick(emailIds.length)] ?? 0;
      if (pick(4) === 0) await removals.remove(org, id, somebody);
    },
    follow: () => follow(org),
    work: () => runWorkers(),
  };
  const names = Object.keys(moves);
  for (let step = 0; step < 120; step++) {
    const name = names[pick(names.length)] ?? "work";
    const act = () => moves[name]?.() ?? Promise.resolve();
    // Refusals, such as a slot that is taken, are answers as well.
    const isKilled = ["acknowledgeMany", "reopenMany", "follow", "work"].includes(name) && pick(3) > 0;
    if (isKilled) {
      await killedAfter(pick(26), act).catch(() => {});
    } else {
      await act().catch((error: unknown) => expect(error).toHaveProperty("refusal"));
    }
  }
  await sweepAt(keys.acknowledgementLock(org));
  await runWorkers();
  await settle(org);
  expect(await table.get(keys.acknowledgementLock(org)), `SEED=${seed}`).toBeUndefined();
  // What e-mails and findings say of each other, and of the catalog, is compared too.
  await expectAgreement(org);
});
