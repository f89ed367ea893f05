import { beforeAll, expect, test } from "vitest";
import type { Message } from "../../shared/contract/messages.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import type { ListedEmail } from "../../shared/monitoring/emails/email-schema.ts";
import { check } from "../../shared/scanning/check.ts";
import { end } from "../../shared/scanning/end.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import {
  changesIn,
  createOrganization,
  domainSearchCount,
  invocation,
  logger,
  readScan,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

const domainName = "sparse.example";
const addressCount = 640;
/** They are in three blocks. */
const perBlock = 300;

const workers = useWorkers({ breached: { [domainName]: {} } });
let org: number;
beforeAll(async () => {
  org = await createOrganization({ [domainName]: addressCount }, perBlock);
});

/** `breached`: index of an address → names of the breaches that it is in. */
const setBreached = (breached: Record<number, string[]>): void => {
  workers.breached[domainName] = { ...workers.breached[domainName], ...breached };
};

/** Plans a scan and takes the messages of its chunks. */
const planned = async (): Promise<{ scanId: number; chunks: Message<"scan-checks">[] }> => {
  const scanId = await startAndPlan(org);
  return { scanId, chunks: await takeMessages("scan-checks") };
};

/** How many changes each chunk has, most first. */
const changeCounts = async (chunks: readonly Message<"scan-checks">[]): Promise<number[]> =>
  (await Promise.all(chunks.map(changesIn))).map(({ length }) => length).sort((a, b) => b - a);

/** When the addresses of these indexes were last scanned, as the list of all e-mails says. */
const lastScans = async (indexes: readonly number[]): Promise<(string | null)[]> => {
  const all: ListedEmail[] = [];
  for (let offset = 0; offset < addressCount; offset += 100) {
    all.push(...(await emailList.list(org, { limit: 100, offset })).emails);
  }
  return indexes.map(
    (index) => all.find(({ email }) => email === `user${index}@${domainName}`)?.lastScannedAt ?? null,
  );
};

test("a chunk has changes of several blocks, and at most 500", async () => {
  setBreached({ 3: ["Alpha"], 320: ["Alpha", "Beta"], 610: ["Beta"] });
  const few = await planned();
  expect(await changeCounts(few.chunks)).toEqual([3]);
  // Every message comes twice.
  for (const chunk of [...few.chunks, ...few.chunks]) await check(chunk, invocation());
  expect(await readScan(org, few.scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount,
    newBreachesFound: 4,
    remaining: {},
  });

  for (let index = 0; index < 510; index++)
    setBreached({ [index]: index === 320 ? ["Alpha", "Beta"] : ["Alpha"] });
  const many = await planned();
  // Two of the 510 addresses were found before.
  expect(await changeCounts(many.chunks)).toEqual([500, 8]);
  for (const chunk of many.chunks) await check(chunk, invocation());
  expect(await readScan(org, many.scanId)).toMatchObject({
    status: "completed",
    scannedEmails: addressCount,
    newBreachesFound: 508,
  });
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(512);
});

test("a chunk of many e-mails reads several of them, and of its breaches, at once", async () => {
  for (let index = 300; index < 600; index++) setBreached({ [index]: [`Many${index % 60}`, "Gamma"] });
  const { chunks } = await planned();
  expect(await changeCounts(chunks)).toEqual([300]);
  const capacity = recordCapacity();
  await check(chunks[0] as Message<"scan-checks">, invocation());
  // One by one, the e-mails alone would take 300, and the 61 breaches and their dates half as many.
  expect(capacity.take().readUnits).toBeLessThan(200);
});

test("a chunk whose message is lost is sent again, without another question to HIBP", async () => {
  setBreached({ 4: ["Alpha", "Beta"], 322: ["Gamma", "Beta"], 612: ["Beta"] });
  const { scanId, chunks: lost } = await planned();
  expect(lost).toHaveLength(1);
  const searches = domainSearchCount(workers);
  await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
  const again = await takeMessages("scan-checks");
  expect(again).toEqual(lost);
  expect(domainSearchCount(workers)).toBe(searches);
  for (const chunk of again) await check(chunk, invocation());
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 3 });
});

test("an unfinished chunk leaves the time of the last check to its whole batch", async () => {
  const changed = [5, 323, 613];
  const others = [200, 590, 630];
  const before = await lastScans([...changed, ...others]);
  for (const index of changed) setBreached({ [index]: ["Delta"] });
  const { scanId } = await planned();
  await end(org, scanId, { reason: "the scan was interrupted", logger });
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount - changed.length,
    newBreachesFound: 0,
    errorMessage: expect.stringContaining(`${changed.length} of ${addressCount} monitored emails`),
  });
  const after = await lastScans([...changed, ...others]);
  expect(after).toEqual(before);

  const next = await planned();
  for (const chunk of next.chunks) await check(chunk, invocation());
  expect(await readScan(org, next.scanId)).toMatchObject({
    status: "completed",
    newBreachesFound: changed.length,
  });
  const [latest, ...rest] = await lastScans([...changed, ...others]);
  expect(new Set(rest)).toEqual(new Set([latest]));
});
