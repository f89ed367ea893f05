/** Answers of a domain search that lost most of what was known at once. */
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as coverage from "../../shared/scanning/coverage.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import {
  createOrganization,
  invocation,
  onTableRequest,
  readScan,
  runChecks,
  startAndPlan,
  takeMessage,
  useWorkers,
} from "./in-process-workers.ts";

const names = ["twice", "back", "few", "half", "failed", "killed", "mixed", "sound"].map(
  (name) => `${name}.example`,
);
const workers = useWorkers({ breached: Object.fromEntries(names.map((name) => [name, {}])) });

/** The first `count` addresses of the domain are in one breach each. */
const setBreached = (name: string, count: number): void => {
  workers.breached[name] = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [index, ["Alpha"]]),
  );
};

const scanOnce = async (org: number): Promise<number> => {
  const scanId = await startAndPlan(org);
  await runChecks();
  return scanId;
};

/** An organization with a domain, and a scan that has found one breach of each of so many addresses. */
const createKnown = async (name: string, count: number): Promise<number> => {
  setBreached(name, count);
  const org = await createOrganization({ [name]: count });
  await scanOnce(org);
  expect(await seen(org)).toEqual({ total: count, gone: 0 });
  return org;
};

/** How many findings there are, and how many of them the last check did not see. */
const seen = async (org: number): Promise<{ total: number; gone: number }> => {
  const [domain] = await domains.list(org);
  const { breaches, total } = await findings.list(org, { limit: 100, offset: 0 });
  return { total, gone: breaches.filter(({ lastSeenAt }) => lastSeenAt < (domain?.checkedAt ?? "")).length };
};

const coverageOf = (org: number, scanId: number) => coverage.get(org, scanId, new Date());

test("is doubted by a scan that completes and changes no finding, believed by the next", async () => {
  const org = await createKnown("twice.example", 20);
  setBreached("twice.example", 9);
  const doubting = await scanOnce(org);
  expect(await readScan(org, doubting)).toMatchObject({
    status: "completed",
    scannedEmails: 0,
    totalEmails: 20,
    findingsItemized: false,
    errorMessage: expect.stringMatching(
      /^20 of 20 monitored emails could not be scanned.*not believed until/,
    ),
  });
  const reason = expect.stringContaining("not believed until a second scan confirms it");
  expect(await coverageOf(org, doubting)).toEqual({
    checked: 0,
    failed: [{ reason, count: 20 }],
    skipped: [],
    stale: { count: 0, oldest: null },
    domains: [{ id: expect.any(Number), name: "twice.example", method: "domain_search", reason }],
  });
  expect(await seen(org)).toEqual({ total: 20, gone: 0 });

  const confirming = await scanOnce(org);
  expect(await readScan(org, confirming)).toMatchObject({ status: "completed", scannedEmails: 20 });
  expect(await seen(org)).toEqual({ total: 20, gone: 11 });
  // What it said of its answers stays, whatever later scans do.
  expect(await coverageOf(org, doubting)).toMatchObject({ failed: [{ reason, count: 20 }] });
  expect(await coverageOf(org, confirming)).toMatchObject({ checked: 20, failed: [] });
});

test("is forgotten once an answer has everything again", async () => {
  const org = await createKnown("back.example", 20);
  for (const _ of [1, 2]) {
    setBreached("back.example", 0);
    expect(await coverageOf(org, await scanOnce(org))).toMatchObject({ checked: 0 });
    setBreached("back.example", 20);
    expect(await coverageOf(org, await scanOnce(org))).toMatchObject({ checked: 20 });
  }
  expect(await seen(org)).toEqual({ total: 20, gone: 0 });
});

test("is still to be confirmed after a scan that got no answer", async () => {
  const org = await createKnown("failed.example", 20);
  setBreached("failed.example", 0);
  await scanOnce(org);
  workers.failureOf = (path) => (path === "breacheddomain/failed.example" ? 400 : undefined);
  expect(await readScan(org, await scanOnce(org))).toMatchObject({ status: "failed" });
  workers.failureOf = () => undefined;
  await scanOnce(org);
  expect(await seen(org)).toEqual({ total: 20, gone: 20 });
});

test.each([
  ["of 19 known pairs all", "few.example", 19, 0],
  ["of 20 known pairs exactly half", "half.example", 20, 10],
])("is believed at once when %s are lost", async (_, name, known, left) => {
  const org = await createKnown(name, known);
  setBreached(name, left);
  expect(await coverageOf(org, await scanOnce(org))).toMatchObject({ checked: known, failed: [] });
  expect(await seen(org)).toEqual({ total: known, gone: known - left });
});

test("leaves other domains of the scan alone", async () => {
  setBreached("mixed.example", 30);
  setBreached("sound.example", 3);
  const org = await createOrganization({ "mixed.example": 30, "sound.example": 3 });
  await scanOnce(org);
  setBreached("mixed.example", 1);
  setBreached("sound.example", 2);
  const shown = await coverageOf(org, await scanOnce(org));
  expect(shown).toMatchObject({ checked: 3, failed: [{ count: 30 }] });
  expect(shown.domains.map(({ name, reason }) => [name, reason === null])).toEqual([
    ["mixed.example", false],
    ["sound.example", true],
  ]);
});

test.each(["before", "after"] as const)(
  "is doubted once by a scan whose planner dies %s it saves the plan",
  async (when) => {
    const name = "killed.example";
    const org = await createKnown(name, 20);
    setBreached(name, 0);
    const scanId = await start(org, "manual", administrator);
    const message = await takeMessage("scan-plans");
    const death = onTableRequest("doubtedByScan", when, async () => {
      throw new Error("The planner dies");
    });
    await expect(plan(message, invocation())).rejects.toThrow("The planner dies");
    expect(death.happened).toBe(true);
    await plan({ ...message, fencingToken: 1 }, invocation());
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed", failedEmails: 20 });
    expect(await seen(org)).toEqual({ total: 20, gone: 0 });
  },
);
