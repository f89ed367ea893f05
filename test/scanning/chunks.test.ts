import { beforeAll, expect, test } from "vitest";
import { condition, conditionFields } from "../../shared/aws/table/condition.ts";
import type { Message } from "../../shared/contract/messages.ts";
import * as findings from "../../shared/findings/finding.ts";
import { blockOf } from "../../shared/lists/blocks.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import type { ListedEmail } from "../../shared/monitoring/emails/email-schema.ts";
import { rangeName } from "../../shared/monitoring/emails/watermark.ts";
import { check } from "../../shared/scanning/check.ts";
import { chunkName, maximumRanges, rangesOfChunk } from "../../shared/scanning/email-chunks.ts";
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

const blocksOf = ({ chunk }: Message<"scan-checks">): number[] =>
  rangesOfChunk(chunk).map(({ fromId, toId }) => {
    expect(blockOf(fromId)).toBe(blockOf(toId));
    return blockOf(fromId);
  });

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

test("blocks with few changes share a chunk; a block with many has its own", async () => {
  setBreached({ 3: ["Alpha"], 320: ["Alpha", "Beta"], 610: ["Beta"] });
  const few = await planned();
  expect(await changeCounts(few.chunks)).toEqual([3]);
  expect(new Set(few.chunks.flatMap(blocksOf)).size).toBe(3);
  // Every message comes twice.
  for (const chunk of [...few.chunks, ...few.chunks]) await check(chunk, invocation());
  expect(await readScan(org, few.scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount,
    newBreachesFound: 4,
    remaining: {},
  });

  for (let index = 0; index < 150; index++) setBreached({ [index]: ["Alpha"] });
  setBreached({ 321: ["Alpha"], 611: ["Alpha"] });
  const many = await planned();
  // One of the 150 addresses was found before.
  expect(await changeCounts(many.chunks)).toEqual([149, 2]);
  for (const chunk of many.chunks) await check(chunk, invocation());
  expect(await readScan(org, many.scanId)).toMatchObject({
    status: "completed",
    scannedEmails: addressCount,
    newBreachesFound: 151,
  });
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(155);
});

test("a chunk of many e-mails reads several of them, and of its breaches, at once", async () => {
  for (let index = 300; index < 600; index++) setBreached({ [index]: [`Many${index % 60}`, "Gamma"] });
  const { chunks } = await planned();
  expect(await changeCounts(chunks)).toEqual([300]);
  const capacity = recordCapacity();
  await check(chunks[0] as Message<"scan-checks">, invocation());
  // One by one, the e-mails alone would take 300, and the 61 breaches and their dates half as many.
  expect(capacity.take().readUnits).toBeLessThan(150);
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

test("an unfinished chunk of several blocks leaves only its own ranges unchecked", async () => {
  const ofRanges = [5, 323, 613];
  const others = [200, 590, 630];
  const before = await lastScans([...ofRanges, ...others]);
  for (const index of ofRanges) setBreached({ [index]: ["Delta"] });
  const { scanId } = await planned();
  await end(org, scanId, { reason: "the scan was interrupted", logger });
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount - ofRanges.length,
    newBreachesFound: 0,
    errorMessage: expect.stringContaining(`${ofRanges.length} of ${addressCount} monitored emails`),
  });
  const after = await lastScans([...ofRanges, ...others]);
  expect(after.slice(0, ofRanges.length)).toEqual(before.slice(0, ofRanges.length));
  for (const [index, at] of after.slice(ofRanges.length).entries()) {
    expect(String(at) > String(before[ofRanges.length + index])).toBe(true);
  }

  const next = await planned();
  for (const chunk of next.chunks) await check(chunk, invocation());
  expect(await readScan(org, next.scanId)).toMatchObject({
    status: "completed",
    newBreachesFound: ofRanges.length,
  });
  const [latest, ...rest] = await lastScans([...ofRanges, ...others]);
  expect(new Set(rest)).toEqual(new Set([latest]));
});

test("the longest name of a chunk is a valid placeholder; one range more is refused", () => {
  const range = { fromId: Number.MAX_SAFE_INTEGER - 1, toId: Number.MAX_SAFE_INTEGER };
  const nameOf = (count: number) =>
    chunkName(Array.from({ length: count }, () => rangeName(range.fromId, range.toId)));
  const using = (name: string) => conditionFields(condition(`attribute_exists(#remaining.#1.#${name})`));
  const name = nameOf(maximumRanges);
  expect(rangesOfChunk(name)).toEqual(Array.from({ length: maximumRanges }, () => range));
  expect(using(name).ExpressionAttributeNames).toHaveProperty(`#${name}`, name);
  expect(() => using(nameOf(maximumRanges + 1))).toThrow("longer than 255 bytes");
});
