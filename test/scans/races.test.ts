import { afterAll, beforeAll, expect, test } from "vitest";
import * as emails from "../../shared/emails/email.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as domains from "../../shared/organizations/domain.ts";
import { apply } from "../../shared/scans/apply.ts";
import { check } from "../../shared/scans/check.ts";
import { end } from "../../shared/scans/end.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import {
  createScanned,
  invocation,
  logger,
  meanwhile,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
  // Both are known as covered before anything else is asked.
  workers.breached = {
    "covered.example": { 0: ["Alpha"] },
    "seen.example": { 0: ["Alpha"], 1: ["Alpha"] },
  };
}, 60_000);
afterAll(() => workers?.stop());

/** Starts a scan of two covered addresses, one of which is breached, and three others, and plans it. */
const planned = async () => {
  const org = await createScanned({ "covered.example": 2, "single.example": 3 });
  const scanId = await startPlanned(org);
  const [[chunk], [lookups]] = [await take("scan-chunks"), await take("scan-lookups")];
  if (chunk === undefined || lookups === undefined) throw new Error("there is no chunk of each kind");
  return { org, scanId, chunk, lookups };
};

const lookUps = (): number =>
  workers.upstream.requests.filter(({ path }) => path.startsWith("breachedaccount/")).length;

test("a chunk that is finished while a scan ends is counted by the end, and not as failed too", async () => {
  const { org, scanId, chunk } = await planned();
  const domainsById = new Map((await domains.list(org)).map((domain) => [domain.id, domain]));
  // Its worker has written everything, but not yet that it is done.
  expect(await apply({ ...chunk, org, domains: domainsById, logger }, chunk.changes)).toBe(0);
  const finished = meanwhile("findingsItemized", "before", () => check(chunk, invocation()));
  await end(org, scanId, { reason: "for a test", logger });
  expect(finished.happened).toBe(true);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 5,
    scannedEmails: 2,
    failedEmails: 3,
    newBreachesFound: 1,
  });
});

test("a chunk that two workers have in hand counts once", async () => {
  const { org, scanId, chunk } = await planned();
  const other = meanwhile("REMOVE #remaining", "before", () => check(chunk, invocation()));
  await check(chunk, invocation());
  expect(other.happened).toBe(true);
  // The other address of the domain is unchanged: the plan has counted it.
  expect(await scanned(org, scanId)).toMatchObject({ status: "running", scannedEmails: 2 });
});

test("look-ups that two workers are asked for are made by one of them", async () => {
  const { org, scanId, chunk, lookups } = await planned();
  await check(chunk, invocation());
  const before = lookUps();
  const other = meanwhile("ADD #scannedEmails", "before", () => lookUp(lookups, invocation()));
  await lookUp(lookups, invocation());
  expect(other.happened).toBe(true);
  expect(lookUps() - before).toBe(3);
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 5 });
});

test("a finding in a chunk that a scan did not reach was not seen again by it", async () => {
  const org = await createScanned({ "seen.example": 2 });
  const scan = async () => {
    const scanId = await startPlanned(org);
    return { scanId, chunks: await take("scan-chunks") };
  };
  const seen = async () =>
    Object.fromEntries(
      (await findings.list(org, { limit: 10, offset: 0 })).breaches.map((each) => [
        each.email,
        each.lastSeenAt,
      ]),
    );
  for (const chunk of (await scan()).chunks) await check(chunk, invocation());
  const before = await seen();
  // The chunk holds the change of user0 alone.
  workers.breached["seen.example"] = { 0: ["Alpha", "Beta"], 1: ["Alpha"] };
  const { scanId } = await scan();
  await end(org, scanId, { reason: "for a test", logger });
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 1 });
  const after = await seen();
  expect(after["user0@seen.example"]).toBe(before["user0@seen.example"]);
  expect(String(after["user1@seen.example"]) > String(before["user1@seen.example"])).toBe(true);
  const listed = (await emails.list(org, { limit: 10, offset: 0 })).emails;
  expect(Object.fromEntries(listed.map(({ email, lastScannedAt }) => [email, lastScannedAt]))).toEqual(after);
});
