import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import { plan } from "../../shared/scanning/plan.ts";
import {
  createOrganization,
  invocation,
  lookUpCount,
  readScan,
  runLookUps,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

// All domains are here from the beginning, since the list of covered domains is asked for once.
const workers = useWorkers({ breached: { "covered.example": {}, "large.example": {} } });

const unverify = (org: number, id: number | undefined) => domains.setVerified(org, id ?? 0, false);
const verify = (org: number, id: number | undefined) => domains.setVerified(org, id ?? 0, true);

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
