/** What HIBP's answers make of findings, from one scan to the next. */

import { describe, expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import * as coverage from "../../shared/scanning/coverage.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  createOrganization,
  domainSearchCount,
  invocation,
  lookUpCount,
  readScan,
  runChecks,
  runLookUps,
  startAndPlan,
  takeMessage,
  useWorkers,
} from "./in-process-workers.ts";

const covered = "covered.example";
const single = "single.example";
/** Domains whose answer loses something. */
const losing = ["twice", "back", "few", "half", "failed", "killed", "mixed", "sound"].map(
  (name) => `${name}.example`,
);
const workers = useWorkers({
  breached: Object.fromEntries([covered, ...losing].map((name) => [name, {}])),
});

const scan = async (org: number) => {
  const scanId = await startAndPlan(org);
  await runChecks();
  await runLookUps();
  return readScan(org, scanId);
};

const findingsOf = async (org: number) => (await findings.list(org, { limit: 100, offset: 0 })).breaches;
const emailsOf = async (org: number) => (await emailList.list(org, { limit: 100, offset: 0 })).emails;
const findingOf = async (org: number, name: string) => {
  const [found, ...others] = (await findingsOf(org)).filter(({ breach }) => breach.name === name);
  if (found === undefined || others.length > 0) throw new Error(`One finding of ${name} was expected`);
  return found;
};
const checkedAt = async (org: number) => String((await emailsOf(org))[0]?.lastScannedAt);

describe("an uncovered domain", () => {
  test("is looked up by address; the next scan finds nothing new", async () => {
    const org = await createOrganization({ [single]: 3 });
    workers.accounts = { [`user0@${single}`]: ["Alpha"], [`user1@${single}`]: ["Alpha", "Beta"] };
    const before = lookUpCount(workers);
    const found = { status: "completed", scannedEmails: 3, newBreachesFound: 3 };
    expect(await scan(org)).toMatchObject(found);
    expect(lookUpCount(workers) - before).toBe(3);
    expect((await emailsOf(org)).map(({ breachCount }) => breachCount).toSorted()).toEqual([0, 1, 2]);
    expect(await scan(org)).toMatchObject({ ...found, newBreachesFound: 0 });
    expect(await findingsOf(org)).toHaveLength(3);
  });

  test("fails a refused address only, which the next scan retries", async () => {
    const org = await createOrganization({ [single]: 2 });
    workers.failureOf = (path) => (path.includes("user0%40") ? 400 : undefined);
    const message = expect.stringMatching(/^1 of 2 monitored emails could not be scanned/);
    expect(await scan(org)).toMatchObject({ status: "completed", scannedEmails: 1, errorMessage: message });
    const unchecked = (await emailsOf(org)).filter(({ lastScannedAt }) => lastScannedAt === null);
    expect(unchecked).toMatchObject([{ email: `user0@${single}` }]);
    workers.failureOf = () => undefined;
    expect(await scan(org)).toMatchObject({ scannedEmails: 2, errorMessage: null });
  });

  test("keeps findings of sensitive breaches, which look-ups lack", async () => {
    const org = await createOrganization({ [single]: 1 });
    workers.catalog = [{ ...inventedBreach("Sensitive"), IsSensitive: true }];
    const breached = { [`user0@${single}`]: ["Sensitive"] };
    workers.accounts = breached;
    await scan(org);
    const before = await findingOf(org, "Sensitive");
    workers.accounts = {};
    await scan(org);
    expect(await findingOf(org, "Sensitive")).toEqual(before);
    expect((await checkedAt(org)) > before.lastSeenAt).toBe(true);
    workers.accounts = breached;
    await scan(org);
    const lastSeenAt = await checkedAt(org);
    expect(await findingOf(org, "Sensitive")).toEqual({ ...before, lastSeenAt });
  });
});

describe("a covered domain", () => {
  test("without an answer fails the scan; no address counts as clean", async () => {
    const org = await createOrganization({ [covered]: 1 });
    workers.failureOf = (path) => (path.startsWith("breacheddomain/") ? 503 : undefined);
    expect(await scan(org)).toMatchObject({
      status: "failed",
      totalEmails: 1,
      scannedEmails: 0,
      errorMessage: expect.stringMatching(/^None of 1 monitored emails could be scanned/),
    });
    expect(await emailsOf(org)).toMatchObject([{ lastScannedAt: null }]);
  });

  test("keeps the finding of a breach that goes and comes back", async () => {
    const org = await createOrganization({ [covered]: 1 });
    const asked = [domainSearchCount(workers), lookUpCount(workers)];
    const scanWith = (...names: string[]) => {
      workers.breached[covered] = { 0: names };
      return scan(org);
    };
    await scanWith("Alpha", "Beta");
    const before = await findingOf(org, "Beta");
    await scanWith("Alpha");
    expect(await findingOf(org, "Beta")).toEqual(before);
    const other = await findingOf(org, "Alpha");
    expect(other.lastSeenAt > before.lastSeenAt).toBe(true);
    expect(await scanWith("Alpha", "Beta")).toMatchObject({ newBreachesFound: 0 });
    const lastSeenAt = await checkedAt(org);
    expect(await findingOf(org, "Beta")).toEqual({ ...before, lastSeenAt });
    // An address that vanishes as the last of its domain keeps its findings too.
    const all = await findingsOf(org);
    workers.breached[covered] = {};
    expect(await scan(org)).toMatchObject({ status: "completed", scannedEmails: 1, newBreachesFound: 0 });
    expect(await findingsOf(org)).toEqual(all);
    expect((await checkedAt(org)) > lastSeenAt).toBe(true);
    expect([domainSearchCount(workers), lookUpCount(workers)]).toEqual([(asked[0] ?? 0) + 4, asked[1]]);
  });

  test("gets a finding of a breach that the catalog does not have", async () => {
    const org = await createOrganization({ [covered]: 1 });
    workers.catalog = [inventedBreach("New")];
    workers.breached[covered] = { 0: ["New", "Unlisted"] };
    expect(await scan(org)).toMatchObject({ newBreachesFound: 2 });
    const titles = (await findingsOf(org)).map(({ breach }) => breach.title).toSorted();
    expect(titles).toEqual(["New (invented)", "Unlisted"]);
  });
});

describe("a shrunken answer", () => {
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
    return {
      total,
      gone: breaches.filter(({ lastSeenAt }) => lastSeenAt < (domain?.checkedAt ?? "")).length,
    };
  };

  const coverageOf = (org: number, scanId: number) => coverage.get(org, scanId, new Date());

  test("is doubted by one completed scan, and believed by the next", async () => {
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
    workers.failureOf = (path) => (path === "breacheddomain/failed.example" ? 503 : undefined);
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
    "is doubted once if the planner dies %s it saves the plan",
    async (when) => {
      const name = "killed.example";
      const org = await createKnown(name, 20);
      setBreached(name, 0);
      const scanId = await start(org, "manual", administrator);
      const message = await takeMessage("scan-plans");
      const death = onTableRequest("the doubt about an answer", when, async () => {
        throw new Error("The planner dies");
      });
      await expect(plan(message, invocation())).rejects.toThrow("The planner dies");
      expect(death.happened).toBe(true);
      await plan({ ...message, fencingToken: 1 }, invocation());
      expect(await readScan(org, scanId)).toMatchObject({ status: "completed", failedEmails: 20 });
      expect(await seen(org)).toEqual({ total: 20, gone: 0 });
    },
  );
});
