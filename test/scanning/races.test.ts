import { expect, test } from "vitest";
import * as findings from "../../shared/findings/finding.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { recordCheck } from "../../shared/scanning/record-check.ts";
import {
  changesIn,
  checkOf,
  createOrganization,
  endEarly,
  invocation,
  lookUpCount,
  onTableRequest,
  readScan,
  runChecks,
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

test("look-ups that two workers get are made by one of them", async () => {
  const { org, scanId, chunk, lookups } = await planned();
  await check(chunk, invocation());
  const before = lookUpCount(workers);
  const other = onTableRequest("ADD #scannedEmails", "before", () => lookUp(lookups, invocation()));
  await lookUp(lookups, invocation());
  expect(other.happened).toBe(true);
  expect(lookUpCount(workers) - before).toBe(3);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 5 });
});

test("a finding in an unfinished chunk keeps the time at which it was last seen", async () => {
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
  expect(after["user0@seen.example"]).toBe(before["user0@seen.example"]);
  expect(String(after["user1@seen.example"]) > String(before["user1@seen.example"])).toBe(true);
  const listed = (await emailList.list(org, { limit: 10, offset: 0 })).emails;
  expect(Object.fromEntries(listed.map(({ email, lastScannedAt }) => [email, lastScannedAt]))).toEqual(after);
});
