/** Scans that end before their work is done, and workers that have the same of it at the same time. */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as findings from "../../shared/findings/finding.ts";
import { findings as findingRows, newFinding } from "../../shared/findings/record.ts";
import { blockSize, reserve } from "../../shared/lists/blocks.ts";
import { read } from "../../shared/lists/tally.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { ownChecked } from "../../shared/monitoring/domains/own-checks.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import type { EmailChange } from "../../shared/scanning/compare-email.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { scans } from "../../shared/scanning/record.ts";
import { recordCheck } from "../../shared/scanning/record-check.ts";
import { start } from "../../shared/scanning/start.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { createChannel } from "../alerting/channels.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  changesIn,
  checkOf,
  createOrganization,
  endEarly,
  foundBy,
  invocation,
  lookUpCount,
  readScan,
  runChecks,
  runLookUps,
  runPlans,
  startAndPlan,
  takeMessage,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

// All domains are here from the beginning, since the list of covered domains is asked for once.
const workers = useWorkers({
  breached: {
    "covered.example": {},
    "large.example": {},
    "seen.example": { 0: ["Alpha"], 1: ["Alpha"] },
  },
});

describe("an early end", () => {
  test("counts what its workers found; late workers write nothing more", async () => {
    const count = 150;
    const breaches = Array.from({ length: 12 }, (_, index) => `Breach${index}`);
    workers.breached["large.example"] = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [index, breaches]),
    );
    // The check may be done before the end; the look-up begins after it in any case.
    workers.accounts["user0@held.example"] = ["Breach0"];
    const org = await createOrganization({ "large.example": count, "held.example": 1 });
    const total = count * breaches.length + 1;
    const scanId = await startAndPlan(org);
    const chunks = await takeMessages("scan-checks");
    const working = Promise.all(chunks.map((chunk) => check(chunk, invocation())));
    while ((await foundBy(org, scanId)) === 0) await sleep(10);
    await endEarly(org, scanId);
    const ended = await readScan(org, scanId);
    const found = await foundBy(org, scanId);
    await working;
    await runLookUps();
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThan(total);
    expect(ended).toMatchObject({
      newBreachesFound: found,
      errorMessage: expect.stringContaining("for a test"),
    });
    expect(await foundBy(org, scanId)).toBe(found);

    // The next scan finds the rest.
    const nextId = await startAndPlan(org);
    await runChecks();
    await runLookUps();
    const rest = total - found;
    expect(await readScan(org, nextId)).toMatchObject({ status: "completed", newBreachesFound: rest });
    expect(await foundBy(org, nextId)).toBe(rest);
  });

  test.each(["plan-scan", "look-up-emails"])(
    "for an organization not served from %s on makes no look-ups",
    async (by) => {
      const org = await createOrganization({ [`${by}.example`]: 3 });
      const scanId = await start(org, "manual", administrator);
      const endSubscription = () =>
        organizations.set(org, { billing: { ...activeBilling, status: "subscription_inactive" } });
      if (by === "plan-scan") await endSubscription();
      await runPlans();
      const before = lookUpCount(workers);
      await endSubscription();
      await runLookUps();
      expect(lookUpCount(workers)).toBe(before);
      expect(await readScan(org, scanId)).toMatchObject({
        status: "failed",
        errorMessage:
          "None of 3 monitored emails could be scanned: the organization's subscription has lapsed",
      });
    },
  );
});

test("a chunk that is finished while its scan ends early counts as checked", async () => {
  workers.breached["covered.example"] = { 1: ["Alpha"] };
  const org = await createOrganization({ "covered.example": 3 });
  await startAndPlan(org);
  await runChecks();
  // A breach is gone: the only change that does not set its e-mail's own time of the check.
  workers.breached["covered.example"] = {};
  const scanId = await startAndPlan(org);
  const chunk = await takeMessage("scan-checks");
  await recordCheck(await checkOf(chunk), await changesIn(chunk));
  // By then the end has set the watermarks.
  const ending = onTableRequest("the end of a scan", "before", () => check(chunk, invocation()));
  await endEarly(org, scanId);
  expect(ending.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 3,
    totalEmails: 3,
    errorMessage: null,
  });
  const { emails: listed } = await emailList.list(org, { limit: 3, offset: 0 });
  const [domain] = await domains.list(org);
  expect(listed.map(({ lastScannedAt }) => lastScannedAt)).toEqual(Array(3).fill(domain?.planAt));
  expect((await ownChecked(org)).domains).toEqual(new Set());
});

test("a batch that is saved while its scan ends is neither counted twice nor checked", async () => {
  workers.breached["covered.example"] = { 1: ["Alpha"] };
  const org = await createOrganization({ "covered.example": 4 });
  const scanId = await start(org, "manual", administrator);
  // By then the end has read the scan, and not yet the domain.
  const saving = onTableRequest({ text: `"ORG#${org}#DOMAIN"` }, "before", () => runPlans());
  await endEarly(org, scanId);
  expect(saving.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 4,
    scannedEmails: 3,
  });
  const [domain] = await domains.list(org);
  expect(domain).toMatchObject({ plannedByScan: scanId, planState: "checked", checkedAt: null });
});

test("a scan that got the lock after one with a higher id does not plan for ever", async () => {
  const org = await createOrganization({ "covered.example": 1 });
  const scanId = await start(org, "manual", administrator);
  const [domain] = await domains.list(org);
  await table.update(keys.domain(org, domain?.id ?? 0), {
    set: { plannedByScan: scanId + 1, planState: "checked" },
  });
  await runPlans();
  expect(await readScan(org, scanId)).toMatchObject({ status: "failed", totalEmails: 0 });
});

test("removes counters of findings that are 0, of all blocks but the newest", async () => {
  workers.breached["large.example"] = { 0: ["Alpha"] };
  const org = await createOrganization({ "large.example": 2 });
  const [{ id: emailId, email } = { id: 0, email: "" }] = (await emailList.list(org, { limit: 1, offset: 0 }))
    .emails;
  // Findings as earlier scans would have found them.
  const ids = await reserve(org, "FINDING", 2 * blockSize);
  const state = {
    acknowledged: false,
    domainId: 1,
    severity: 3,
    isHistory: false,
    told: false,
    endedBy: 0,
  } as const;
  const group = { scanId: null, ...state };
  const places = [ids[0], ids[1], ids[blockSize]].filter((id) => id !== undefined);
  const firstDetectedAt = new Date().toISOString();
  const found = places.map((id) =>
    findingRows.put(org, id, group, newFinding(org, { emailId, email, breachId: 1, firstDetectedAt })),
  );
  await table.transact(findingRows.writes(org, found));
  const acknowledged = places.map(({ id }) =>
    findingRows.change(org, id, { from: group, to: { ...group, acknowledged: true } }),
  );
  await table.transact(findingRows.writes(org, acknowledged));

  const scanId = await startAndPlan(org);
  await runChecks();
  expect(await scans.get(org, scanId)).toMatchObject({ newBreachesFound: 1 });
  const [newest, ...older] = await read(org, "FINDING");
  expect(newest?.counts.size).toBe(1);
  expect(older.map(({ counts }) => [...counts])).toEqual([[["_-1-1-3-0-0-0", 1]], [["_-1-1-3-0-0-0", 2]]]);
});

/** Plans a scan of two covered addresses, one of them breached, and of three that are looked up. */
const planned = async () => {
  workers.breached["covered.example"] = { 0: ["Alpha"] };
  const org = await createOrganization({ "covered.example": 2, "single.example": 3 });
  const scanId = await startAndPlan(org);
  return { org, scanId, chunk: await takeMessage("scan-checks"), lookups: await takeMessage("scan-lookups") };
};

test("a chunk that is finished while its scan ends does not count as failed", async () => {
  const { org, scanId, chunk } = await planned();
  // Its worker has written everything except that the chunk is done.
  expect(await recordCheck(await checkOf(chunk), await changesIn(chunk))).toBe(0);
  const finished = onTableRequest("the end of what a scan found", "before", () => check(chunk, invocation()));
  await endEarly(org, scanId);
  expect(finished.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 5,
    scannedEmails: 2,
    failedEmails: 3,
    newBreachesFound: 1,
  });
});

test("a chunk that two workers have at the same time counts once", async () => {
  const { org, scanId, chunk } = await planned();
  const other = onTableRequest("a chunk that is done", "before", () => check(chunk, invocation()));
  await check(chunk, invocation());
  expect(other.happened).toBe(true);
  // One is the address of the chunk. The other address of the domain is unchanged and was counted by the
  // plan.
  expect(await readScan(org, scanId)).toMatchObject({ status: "running", scannedEmails: 2 });
});

test("look-ups that two workers get count once", async () => {
  const { org, scanId, chunk, lookups } = await planned();
  await check(chunk, invocation());
  const other = onTableRequest("progress of a scan", "before", () => lookUp(lookups, invocation()));
  await lookUp(lookups, invocation());
  expect(other.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 5 });
});

test("a worker whose look-ups another one has saved writes nothing of them", async () => {
  const org = await createOrganization({ "single.example": 30, "waiting.example": 1 });
  const scanId = await startAndPlan(org);
  const lookups = await takeMessage("scan-lookups");
  const before = lookUpCount(workers);
  const { answer } = workers.upstream;
  let other: Promise<void> | undefined;
  workers.upstream.answer = (path, request, response) => {
    const isFirst = other === undefined;
    // The other worker has time for one step, and finds nothing.
    other ??= lookUp(lookups, invocation(20));
    if (!isFirst) return answer(path, request, response);
    other.then(() => {
      for (let index = 0; index < 30; index++) workers.accounts[`user${index}@single.example`] = ["Alpha"];
      answer(path, request, response);
    });
  };
  await lookUp(lookups, invocation());
  expect(lookUpCount(workers) - before).toBe(50);
  expect(await readScan(org, scanId)).toMatchObject({ status: "running", scannedEmails: 25 });
  expect(await foundBy(org, scanId)).toBe(0);
  // The same message once more is late.
  await lookUp(lookups, invocation());
  expect(lookUpCount(workers) - before).toBe(50);
});

test("findings of an unfinished batch keep the time at which they were last seen", async () => {
  const org = await createOrganization({ "seen.example": 2 });
  const lastSeen = async () => {
    const { breaches } = await findings.list(org, { limit: 10, offset: 0 });
    return Object.fromEntries(breaches.map((each) => [each.email, each.lastSeenAt]));
  };
  await startAndPlan(org);
  await runChecks();
  const before = await lastSeen();
  // The chunk of the next scan holds the change of user0 alone.
  workers.breached["seen.example"] = { 0: ["Alpha", "Beta"], 1: ["Alpha"] };
  const scanId = await startAndPlan(org);
  await takeMessages("scan-checks");
  await endEarly(org, scanId);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 1 });
  const after = await lastSeen();
  expect(after).toEqual(before);
  const listed = (await emailList.list(org, { limit: 10, offset: 0 })).emails;
  expect(Object.fromEntries(listed.map(({ email, lastScannedAt }) => [email, lastScannedAt]))).toEqual(after);
});

/** Plans a scan whose one chunk holds the change of user0 of covered.example. */
const plannedChunk = async (addressCounts: Record<string, number>) => {
  workers.breached["covered.example"] = { 0: ["Alpha"] };
  const org = await createOrganization(addressCounts);
  const scanId = await startAndPlan(org);
  return { org, scanId, chunk: await takeMessage("scan-checks") };
};

/** A change that is not the chunk's: user1 of covered.example is in a breach. */
const otherChange = async (org: number): Promise<EmailChange> => {
  const { emails: listed } = await emailList.list(org, { limit: 3, offset: 0 });
  const other = listed.find(({ email }) => email === "user1@covered.example");
  return { emailId: other?.id ?? 0, found: [1], gone: [], back: [] };
};

const die = async (): Promise<never> => {
  throw new Error("the function ran out of time");
};

describe("a chunk", () => {
  test("that is done takes no further change", async () => {
    const { org, scanId, chunk } = await plannedChunk({ "covered.example": 2 });
    const earlier = await checkOf(chunk);
    await check(chunk, invocation());
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 1 });
    await recordCheck(earlier, [await otherChange(org)]);
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("whose worker dies after taking it off takes no further change", async () => {
    const { org, scanId, chunk } = await plannedChunk({ "covered.example": 2, "single-after.example": 1 });
    const earlier = await checkOf(chunk);
    const dies = onTableRequest("a chunk that is done", "after", die);
    await expect(check(chunk, invocation())).rejects.toThrow("out of time");
    expect(dies.happened).toBe(true);
    await runLookUps();
    const ended = await readScan(org, scanId);
    expect(ended).toMatchObject({ status: "completed", totalEmails: 3, newBreachesFound: 1 });
    // Another worker has the same chunk, because its message came twice.
    await recordCheck(earlier, [await otherChange(org)]);
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("whose worker dies before taking it off is taken off by the next worker", async () => {
    const { org, scanId, chunk } = await plannedChunk({ "covered.example": 2 });
    onTableRequest("a chunk that is done", "before", die);
    await expect(check(chunk, invocation())).rejects.toThrow("out of time");
    await check(chunk, invocation());
    expect(await readScan(org, scanId)).toMatchObject({
      status: "completed",
      scannedEmails: 2,
      newBreachesFound: 1,
      errorMessage: null,
    });
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("is recorded even if new blocks make its transaction too large", async () => {
    workers.breached["covered.example"] = {
      0: Array.from({ length: 75 }, (_, index) => `Breach${index}`),
    };
    const org = await createOrganization({ "covered.example": 1 });
    for (let count = 0; count < 20; count++) await createChannel(org);
    const scanId = await startAndPlan(org);
    await reserve(org, "FINDING", blockSize - 30);
    await reserve(org, "DELIVERY", blockSize - 10);
    await runChecks();
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 75 });
    await takeMessages("deliveries");
  });
});
