import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as findings from "../../shared/findings/finding.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import { plan } from "../../shared/scans/plan.ts";
import { start } from "../../shared/scans/scan.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { createScanned, invocation, scanned, startWorkers, take, type Workers } from "./workers.ts";

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
