import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { findings as findingRows, newFinding } from "../../shared/findings/record.ts";
import { blockSize, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { read } from "../../shared/lists/directory.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { ownChecks } from "../../shared/monitoring/domains/own-checks.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import { scans } from "../../shared/scanning/record.ts";
import { recordCheck } from "../../shared/scanning/record-check.ts";
import { start } from "../../shared/scanning/start.ts";
import { activeBilling } from "../access/organizations/billing.ts";
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
  runPlans,
  startAndPlan,
  takeMessage,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

// All domains are here from the beginning, since the list of covered domains is asked for once.
const workers = useWorkers({ breached: { "covered.example": {}, "large.example": {} } });

describe("a scan that ends before its work is done", () => {
  test("counts exactly what its workers found, and late workers write nothing more", async () => {
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
    "of an organization that is not served from %s on makes no further look-ups",
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
  const ending = onTableRequest("#completedAt", "before", () => check(chunk, invocation()));
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
  expect((await ownChecks(org)).domains).toEqual(new Set());
});

test("a batch that is saved while its scan ends is neither counted twice nor checked", async () => {
  workers.breached["covered.example"] = { 1: ["Alpha"] };
  const org = await createOrganization({ "covered.example": 4 });
  const scanId = await start(org, "manual", administrator);
  // By then the end has read the scan, and not yet the domain.
  const saving = onTableRequest(`"ORG#${org}#DOMAIN"`, "before", () => runPlans());
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

test("notes the rare findings of all blocks but the newest", async () => {
  workers.breached["large.example"] = { 0: ["Alpha"] };
  const org = await createOrganization({ "large.example": 2 });
  const [{ id: emailId, email } = { id: 0, email: "" }] = (await emailList.list(org, { limit: 1, offset: 0 }))
    .emails;
  // Findings as earlier scans would have found them.
  const ids = await reserve(org, "FINDING", 2 * blockSize);
  const found = [ids[0], ids[blockSize]].map((id) =>
    findingRows.put(
      org,
      id as Reserved,
      { scanId: null, acknowledged: false, domainId: 1, severity: 3 },
      newFinding(org, {
        emailId,
        email,
        breachId: 1,
        firstDetectedAt: new Date().toISOString(),
      }),
    ),
  );
  await table.transact(findingRows.writes(org, found));

  const scanId = await startAndPlan(org);
  await runChecks();
  expect(await scans.get(org, scanId)).toMatchObject({ newBreachesFound: 1 });
  const directory = await read(org, "FINDING", { withNotes: true });
  expect(directory.map(({ note }) => note?.places)).toEqual([
    undefined,
    { "_-0-1-3": [0] },
    { "_-0-1-3": [0] },
  ]);
});
