import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as emails from "../../shared/emails/email.ts";
import * as findings from "../../shared/findings/finding.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import { end } from "../../shared/scans/end.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import { plan } from "../../shared/scans/plan.ts";
import { start } from "../../shared/scans/scan.ts";
import { keys, timeToLive } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { createScanned, invocation, logger, scanned, startWorkers, take, type Workers } from "./workers.ts";

let workers: Workers;
let answer: Workers["upstream"]["answer"];
beforeAll(async () => {
  workers = await startWorkers();
  ({ answer } = workers.upstream);
}, 60_000);
afterAll(() => workers?.stop());
afterEach(() => {
  workers.upstream.answer = answer;
});

/** Starts a scan and plans it. */
const planned = async (org: number): Promise<number> => {
  const scanId = await start(org, "manual", administrator);
  for (const message of await take("scan-plans")) await plan(message, invocation());
  return scanId;
};

test("look-ups do not wait longer than their function runs, when HIBP answers them and nothing else", async () => {
  const org = await createScanned({ "single.example": 2 });
  workers.accounts["user0@single.example"] = ["Newest"];
  const scanId = await planned(org);
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await table.update(keys.subscription(), { set: { at: hoursAgo } });
  workers.upstream.answer = (path, request, response) => {
    if (path.startsWith("breachedaccount/")) answer(path, request, response);
  };
  const { remainingSeconds, ...rest } = invocation(14);
  for (const message of await take("scan-lookups")) await lookUp(message, { ...rest, remainingSeconds });
  expect(remainingSeconds()).toBeGreaterThan(5);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2,
    newBreachesFound: 1,
  });
  const { breaches } = await findings.list(org, { limit: 1, offset: 0, scanId });
  expect(breaches).toMatchObject([{ breach: { title: "Newest" } }]);
}, 20_000);

test("addresses whose answers come after the scan's end do not read as checked, and nothing of it is kept for ever", async () => {
  const org = await createScanned({ "late.example": 2 });
  const scanId = await planned(org);
  const ending = { reason: "for a test", logger };
  workers.upstream.answer = (path, request, response) => {
    if (!path.startsWith("breachedaccount/")) return answer(path, request, response);
    end(org, scanId, ending).finally(() => answer(path, request, response));
  };
  const rows = () => table.query<Record<string, number>>({ pk: keys.lookup(org, scanId, 0, "").pk });
  expect(await rows()).toHaveLength(1);
  for (const message of await take("scan-lookups")) await lookUp(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "failed", scannedEmails: 0, totalEmails: 2 });
  const { emails: listed } = await emails.list(org, { limit: 2, offset: 0 });
  expect(listed.map(({ lastScannedAt }) => lastScannedAt)).toEqual([null, null]);
  for (const row of await rows()) {
    expect((row[timeToLive] ?? 0) - Date.now() / 1000).toBeGreaterThan(86_400);
  }
});

test("an address that is removed while it is looked up does not keep the others from being checked", async () => {
  const org = await createScanned({ "single.example": 3 });
  const scanId = await planned(org);
  const { emails: before } = await emails.list(org, { limit: 3, offset: 0 });
  const [removed, ...kept] = before;
  let removing: Promise<void> | undefined;
  workers.upstream.answer = (path, request, response) => {
    removing ??= emails.remove(org, removed?.id ?? 0, administrator);
    removing.finally(() => answer(path, request, response));
  };
  for (const message of await take("scan-lookups")) await lookUp(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed" });
  const { emails: after } = await emails.list(org, { limit: 3, offset: 0 });
  expect(after.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
  for (const { lastScannedAt } of after) expect(lastScannedAt).not.toBeNull();
});
