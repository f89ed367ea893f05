import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as limiter from "../../shared/catalog/limiter.ts";
import * as emails from "../../shared/emails/email.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as domains from "../../shared/organizations/domain.ts";
import { check } from "../../shared/scans/check.ts";
import { plan } from "../../shared/scans/plan.ts";
import type { ScanLock } from "../../shared/scans/record.ts";
import { start } from "../../shared/scans/scan.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import {
  createScanned,
  invocation,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

/** More than are planned together. */
const names = Array.from({ length: 95 }, (_, index) => `many${index}.example`);

let workers: Workers;
let org: number;
beforeAll(async () => {
  workers = await startWorkers();
  workers.breached = Object.fromEntries(names.map((name) => [name, {}]));
  org = await createScanned(Object.fromEntries(names.map((name) => [name, 2])));
}, 60_000);
afterAll(() => workers?.stop());

const searches = (): number =>
  workers.upstream.requests.filter(({ path }) => path.startsWith("breacheddomain/")).length;

const setBreached = (names: string[], breaches: string[]): void => {
  for (const name of names) workers.breached[name] = { 0: breaches };
};

test("one message that comes twice plans once; one from the sweep takes over, and the planner before it stops", async () => {
  setBreached(names, ["Alpha"]);
  workers.latencyMilliseconds = 10;
  const scanId = await start(org, "manual", administrator);
  const [message] = await take("scan-plans");
  if (message === undefined) throw new Error("there is no message");
  const before = searches();
  const first = [plan(message, invocation()), plan(message, invocation())];
  while (searches() - before < 40) await sleep(5);
  await Promise.all([...first, plan({ ...message, turn: 1, resume: true }, invocation())]);
  workers.latencyMilliseconds = 0;
  // The answers of the first batch are asked for again, at most.
  expect(searches() - before).toBeLessThanOrEqual(2 * names.length);
  const chunks = await take("scan-chunks");
  expect(chunks.flatMap(({ changes }) => changes)).toHaveLength(names.length);
  for (const chunk of chunks) await check(chunk, invocation());
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2 * names.length,
    newBreachesFound: names.length,
  });
  expect(await take("scan-plans")).toEqual([]);
}, 60_000);

test("a scan that is resumed while the upstream's rate limit is reached waits, and goes on", async () => {
  setBreached(names.slice(0, 3), ["Alpha", "Beta"]);
  const scanId = await startPlanned(org);
  expect(await take("scan-chunks")).toHaveLength(1);

  await limiter.pause(600);
  await plan({ organizationId: org, scanId, turn: 1, resume: true }, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "running" });
  // The sweep does not take that for silence.
  const lock = await table.get<ScanLock>(keys.scanLock(org));
  expect(Date.parse(lock?.dueAt ?? "") - Date.now()).toBeGreaterThan(500_000);

  await table.remove(keys.limiter());
  const before = searches();
  await plan({ organizationId: org, scanId, turn: 2, resume: true }, invocation());
  // Only the domains of what is left.
  expect(searches() - before).toBe(3);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 3 });
});

test("slow answers: progress is saved every few seconds, and what is answered does not wait for the rest", async () => {
  const some = names.slice(0, 15);
  setBreached(some.slice(0, 1), ["Alpha"]);
  const org = await createScanned(Object.fromEntries(some.map((name) => [name, 2])));
  const scanId = await start(org, "manual", administrator);
  const [message] = await take("scan-plans");
  if (message === undefined) throw new Error("there is no message");
  workers.latencyMilliseconds = 400;
  const before = searches();
  const planning = plan(message, invocation());
  while (searches() === before) await sleep(10);
  // Its domain is claimed, and asked for last.
  const last = (await domains.list(org)).at(-1);
  const late = { email: `late@${last?.name}`, domainId: last?.id ?? 0 };
  const lateId = await emails.add(org, late, administrator);
  const seen = new Set<number>();
  let chunksBeforeTheEnd = 0;
  for (let isDone = false; !isDone; ) {
    isDone = await Promise.race([planning.then(() => true), sleep(250, false)]);
    const scan = await scanned(org, scanId);
    if (scan.status === "running" && scan.planned === false) {
      seen.add(scan.scannedEmails ?? 0);
      chunksBeforeTheEnd += (await take("scan-chunks")).length;
    }
  }
  workers.latencyMilliseconds = 0;
  expect(seen.size).toBeGreaterThan(1);
  expect(chunksBeforeTheEnd).toBeGreaterThan(0);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  const listed = (await emails.list(org, { limit: 100, offset: 0 })).emails;
  expect(listed.find(({ id }) => id === lateId)?.lastScannedAt).toBeNull();
}, 60_000);

test("a planner whose turn is over claims a domain late: the one after it claims it again, and asks once more", async () => {
  setBreached(names.slice(0, 1), []);
  const org = await createScanned({ "many0.example": 2 });
  const scanId = await start(org, "manual", administrator);
  const [message] = await take("scan-plans");
  const [domain] = await domains.list(org);
  if (message === undefined || domain === undefined) throw new Error("there is no message or domain");
  workers.latencyMilliseconds = 50;
  const before = searches();
  // Time for a few seconds of questions.
  const planning = plan(message, invocation(154));
  while (searches() === before) await sleep(5);
  await table.update(keys.domain(org, domain.id), { set: { planAt: new Date().toISOString() } });
  await planning;
  workers.latencyMilliseconds = 0;
  expect(searches() - before).toBe(2);
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
}, 30_000);

test("slow answers: domains that share their blocks are read few times, since each batch lasts twice as long as the one before", async () => {
  const some = names.slice(0, 24);
  setBreached(some, []);
  const org = await createScanned(Object.fromEntries(some.map((name) => [name, 2])));
  const scanId = await start(org, "manual", administrator);
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    if (path.startsWith("breacheddomain/")) vi.setSystemTime(Date.now() + 1_300);
    answer(path, request, response);
  };
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    for (const message of await take("scan-plans")) await plan(message, invocation());
  } finally {
    vi.useRealTimers();
    workers.upstream.answer = answer;
    await table.remove(keys.limiter());
  }
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 48 });
  const batches = new Set((await domains.list(org)).map(({ planBatch }) => planBatch));
  expect(batches.size).toBe(3);
});
