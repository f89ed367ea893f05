/** What scans say that they did not check, and why; and e-mails that leave a scan while it runs. */

import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../shared/monitoring/domains/proof.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import * as coverage from "../../shared/scanning/coverage.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  lookUpCount,
  readScan,
  runChecks,
  runLookUps,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

// All domains are here from the beginning, since the list of covered domains is asked for once.
const names = ["whole", "large", "slow", "covered"].map((name) => `${name}.example`);
const workers = useWorkers({ breached: Object.fromEntries(names.map((name) => [name, {}])) });

const coverageOf = (org: number, scanId: number) => coverage.get(org, scanId, new Date());

test("a scan says how it asked about each domain, and counts what it did not check", async () => {
  workers.failureOf = (path) => {
    if (path === "breacheddomain/large.example") return 403;
    return path === "breachedaccount/user1%40alone.example?truncateResponse=true" ? 400 : undefined;
  };
  const org = await createOrganization({
    "whole.example": 1,
    "large.example": 2,
    "alone.example": 3,
    "unproved.example": 4,
  });
  const unproved = (await domains.list(org)).find(({ name }) => name === "unproved.example");
  await setVerified(org, unproved?.id ?? 0, false);
  const scanId = await startAndPlan(org);
  const during = await coverageOf(org, scanId);
  await runChecks();
  await runLookUps();
  const shown = await coverageOf(org, scanId);
  expect(shown).toMatchObject({
    checked: 5,
    failed: [{ reason: "Have I Been Pwned refused an address as malformed", count: 1 }],
    skipped: [{ reason: "the domain is not verified", count: 4 }],
    stale: { count: 0, oldest: null },
  });
  expect(shown.domains.map(({ name, method, reason }) => [name, method, reason])).toEqual([
    ["whole.example", "domain_search", null],
    ["large.example", "address_by_address", "too large for the plan, or more domains than the plan has"],
    ["alone.example", "address_by_address", "not verified at HIBP"],
  ]);
  expect(during.domains).toEqual(shown.domains);
});

test("a scan's coverage stays as it was when the plan changes before the next scan", async () => {
  const org = await createOrganization({ "whole.example": 1 });
  const first = await startAndPlan(org);
  workers.failureOf = (path) => (path === "breacheddomain/whole.example" ? 402 : undefined);
  const second = await startAndPlan(org);
  await runLookUps();
  expect((await coverageOf(org, first)).domains).toMatchObject([{ method: "domain_search", reason: null }]);
  expect((await coverageOf(org, second)).domains).toMatchObject([
    { method: "address_by_address", reason: "the plan has no domain search" },
  ]);
});

test("addresses that were not reached are stale, not failed, since their last check", async () => {
  const org = await createOrganization({ "slow.example": 2, "single.example": 3 });
  await startAndPlan(org);
  await runLookUps();
  const [checked] = (await domains.list(org)).filter(({ name }) => name === "slow.example");

  workers.breached["slow.example"] = { 0: ["Alpha"] };
  const planned = await startAndPlan(org);
  await endEarly(org, planned);
  await takeMessages("scan-checks");
  await takeMessages("scan-lookups");
  expect(await coverageOf(org, planned)).toMatchObject({
    checked: 1,
    failed: [],
    stale: { count: 4, oldest: checked?.checkedAt },
  });

  const unplanned = await start(org, "manual", administrator);
  await endEarly(org, unplanned);
  await takeMessages("scan-plans");
  expect(await coverageOf(org, unplanned)).toMatchObject({
    checked: 0,
    failed: [],
    stale: { count: 5, oldest: checked?.checkedAt },
    domains: [
      { name: "slow.example", reason: "the scan has not asked about it" },
      { name: "single.example", reason: "the scan has not asked about it" },
    ],
  });
});

test("addresses that were not reached and never checked have no earlier result", async () => {
  const org = await createOrganization({ "new.example": 2 });
  const scanId = await startAndPlan(org);
  await endEarly(org, scanId);
  await takeMessages("scan-lookups");
  expect((await coverageOf(org, scanId)).stale).toEqual({ count: 2, oldest: null });
});

const unverify = (org: number, id: number | undefined) => setVerified(org, id ?? 0, false);
const verify = (org: number, id: number | undefined) => setVerified(org, id ?? 0, true);

test("e-mails of a domain that is unverified during a scan are no longer looked up", async () => {
  const org = await createOrganization({ "leaves.example": 40, "stays.example": 2 });
  const scanId = await startAndPlan(org);
  const before = lookUpCount(workers);
  const [leaving, staying] = await domains.list(org);
  // Each worker has time for one step of 25 addresses.
  await runLookUps(20);
  await unverify(org, leaving?.id);
  await runLookUps();
  expect(lookUpCount(workers) - before).toBeLessThan(40);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: lookUpCount(workers) - before,
    scannedEmails: lookUpCount(workers) - before,
    errorMessage: null,
  });
  expect(staying?.verified).toBe(true);
});

test.each([
  ["their domain is unverified", "unverified"],
  ["their domain is unverified for a moment", "for a moment"],
  ["their domain is unverified and their message lost", "lost"],
  ["they are disabled", "disabled"],
])("e-mails that leave a scan after its plan are not counted as scanned: %s", async (_, how) => {
  workers.breached["covered.example"] = { 0: ["Alpha"], 1: ["Alpha"], 2: ["Alpha"] };
  const org = await createOrganization({ "covered.example": 3, "large.example": 2 });
  const scanId = await startAndPlan(org);
  let chunks = await takeMessages("scan-checks");
  const [domain] = await domains.list(org);
  if (how === "disabled") {
    const { emails: listed } = await emailList.list(org, { limit: 5, offset: 0 });
    for (const each of listed.filter((each) => each.domain.id === domain?.id)) {
      await emails.setActive(org, each.id, false, administrator);
    }
  } else await unverify(org, domain?.id);
  if (how === "for a moment") await verify(org, domain?.id);
  if (how === "lost") {
    await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
    chunks = await takeMessages("scan-checks");
  }
  expect(chunks).toHaveLength(1);
  for (const chunk of chunks) await check(chunk, invocation());
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2,
    totalEmails: 2,
    newBreachesFound: 0,
    errorMessage: null,
  });
  const { emails: listed } = await emailList.list(org, { limit: 5, offset: 0 });
  expect(listed.filter(({ lastScannedAt }) => lastScannedAt !== null)).toHaveLength(2);
});
