/** What HIBP's answers make of findings, from one scan to the next. */
import { describe, expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import {
  createOrganization,
  domainSearchCount,
  lookUpCount,
  readScan,
  runChecks,
  runLookUps,
  startAndPlan,
  useWorkers,
} from "./in-process-workers.ts";

const covered = "covered.example";
const single = "single.example";
const workers = useWorkers({ breached: { [covered]: {} } });

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

describe("a domain that the subscription does not cover", () => {
  test("is looked up address by address; the next scan finds nothing anew", async () => {
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

  test("fails only the address that the upstream refuses; the next scan tries it again", async () => {
    const org = await createOrganization({ [single]: 2 });
    workers.failureOf = (path) => (path.includes("user0%40") ? 400 : undefined);
    const message = expect.stringMatching(/^1 of 2 monitored emails could not be scanned/);
    expect(await scan(org)).toMatchObject({ status: "completed", scannedEmails: 1, errorMessage: message });
    const unchecked = (await emailsOf(org)).filter(({ lastScannedAt }) => lastScannedAt === null);
    expect(unchecked).toMatchObject([{ email: `user0@${single}` }]);
    workers.failureOf = () => undefined;
    expect(await scan(org)).toMatchObject({ scannedEmails: 2, errorMessage: null });
  });

  test("keeps findings of sensitive breaches, which look-ups leave out, as last seen", async () => {
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
  test("that does not answer fails the scan truthfully, and nothing reads as clean", async () => {
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

  test("a breach that vanishes upstream and comes back is the same finding", async () => {
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

  test("a breach that the catalog does not know yet is a finding at once", async () => {
    const org = await createOrganization({ [covered]: 1 });
    workers.catalog = [inventedBreach("New")];
    workers.breached[covered] = { 0: ["New", "Unlisted"] };
    expect(await scan(org)).toMatchObject({ newBreachesFound: 2 });
    const titles = (await findingsOf(org)).map(({ breach }) => breach.title).toSorted();
    expect(titles).toEqual(["New (invented)", "Unlisted"]);
  });
});
