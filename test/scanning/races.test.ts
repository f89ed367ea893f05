import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import * as findings from "../../shared/findings/finding.ts";
import { blockSize, reserve } from "../../shared/lists/blocks.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import type { EmailChange } from "../../shared/scanning/compare-email.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { recordCheck } from "../../shared/scanning/record-check.ts";
import {
  changesIn,
  checkOf,
  createOrganization,
  endEarly,
  foundBy,
  invocation,
  lookUpCount,
  onTableRequest,
  readScan,
  runChecks,
  runLookUps,
  startAndPlan,
  takeMessage,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

// All domains are here from the beginning, since the list of covered domains is asked for once.
const workers = useWorkers({
  breached: {
    "covered.example": { 0: ["Alpha"] },
    "seen.example": { 0: ["Alpha"], 1: ["Alpha"] },
  },
});

/** Plans a scan of two covered addresses, one of which is breached, and of three that are looked up. */
const planned = async () => {
  const org = await createOrganization({ "covered.example": 2, "single.example": 3 });
  const scanId = await startAndPlan(org);
  return { org, scanId, chunk: await takeMessage("scan-checks"), lookups: await takeMessage("scan-lookups") };
};

test("a chunk that is finished while its scan ends does not count as failed", async () => {
  const { org, scanId, chunk } = await planned();
  // Its worker has written everything except that the chunk is done.
  expect(await recordCheck(await checkOf(chunk), await changesIn(chunk))).toBe(0);
  const finished = onTableRequest("findingsItemized", "before", () => check(chunk, invocation()));
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
  const other = onTableRequest("REMOVE #remaining", "before", () => check(chunk, invocation()));
  await check(chunk, invocation());
  expect(other.happened).toBe(true);
  // One is the address of the chunk. The other address of the domain is unchanged and was counted by the
  // plan.
  expect(await readScan(org, scanId)).toMatchObject({ status: "running", scannedEmails: 2 });
});

test("look-ups that two workers get count once", async () => {
  const { org, scanId, chunk, lookups } = await planned();
  await check(chunk, invocation());
  const other = onTableRequest("ADD #scannedEmails", "before", () => lookUp(lookups, invocation()));
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
    const dies = onTableRequest("REMOVE #remaining", "after", die);
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
    onTableRequest("REMOVE #remaining", "before", die);
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
    const channel = {
      isEnabled: true,
      notifyOnNewBreach: true,
      notifyOnScanComplete: false,
      notifyOnScanError: false,
    };
    for (let count = 0; count < 20; count++) {
      const config = { recipients: [`alerts${count}@acme.example`] };
      await configure.create(org, { ...channel, channel: "email", config }, administrator, async () => {});
    }
    const scanId = await startAndPlan(org);
    await reserve(org, "FINDING", blockSize - 30);
    await reserve(org, "DELIVERY", blockSize - 10);
    await runChecks();
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 75 });
    await takeMessages("deliveries");
  });
});
