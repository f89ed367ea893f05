/**
 * The feed of an organization with a long history: 5,000 findings, or as many as FEED_FINDINGS says. A
 * million takes minutes.
 */
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { tableOf } from "../../bench/database.ts";
import { domainNames } from "../../bench/seed/addresses.ts";
import { type Seeded, sizeOf } from "../../bench/seed/seed.ts";
import { makeDatabase, removeScratch } from "../../bench/service.ts";
import { undisturbed } from "../../local/dynamodb/behaviour.ts";
import { startEngine } from "../../local/dynamodb/engine.ts";
import { startBehavingDynamodb } from "../../local/harness/behaving-dynamodb.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { addresses, readWhileKilling } from "../findings/feed-writers.ts";
import { addDomains, useWorkers } from "../scanning/in-process-workers.ts";

const findings = Number(process.env.FEED_FINDINGS ?? 5_000);
const domain = "killed.example";
const workers = useWorkers({ breached: { [domain]: {} } });
const closes: (() => Promise<unknown>)[] = [];
let seeded: Seeded;

beforeAll(async () => {
  const assemblyDirectory = inject("assembly");
  const database = await makeDatabase("feed", sizeOf(findings), { progress: () => {}, assemblyDirectory });
  seeded = database.seeded;
  const engine = await startEngine(database.directory);
  const behaving = await startBehavingDynamodb(engine.endpoint, undisturbed);
  closes.push(behaving.close, engine.close);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", behaving.url);
  vi.stubEnv("TABLE_NAME", tableOf(assemblyDirectory).name);
}, 3_600_000);
afterAll(async () => {
  for (const close of closes) await close();
  removeScratch();
});

// Rows of several blocks that the service could have written: pages of 100,000 are measured on such rows, too.
test("the audit of the seeded history finds nothing", async () => {
  expect(await audit(seeded.org)).toMatchObject({ differences: [], unsettled: [] });
}, 3_600_000);

test("all of a long history comes once, while workers of scans are killed", async () => {
  // Only addresses that are added here are scanned.
  for (const index of domainNames.keys())
    await table.update(keys.domain(seeded.org, index + 1), { set: { verified: false } });
  await addDomains(seeded.org, { [domain]: addresses });
  const began = Date.now();
  const read = await readWhileKilling(workers, seeded.org, { domain, rounds: 8, smallestPage: 500 });
  console.log(`${JSON.stringify(read)} in ${Math.round((Date.now() - began) / 1000)} s, 0 missing, 0 twice`);
  expect(read.findings).toBeGreaterThan(seeded.findings);
  expect(read.entries).toBeGreaterThan(seeded.activityCount);
}, 3_600_000);
