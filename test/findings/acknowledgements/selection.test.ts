/** What a request is about: exactly the findings that match when it is made. */
import { beforeAll, expect, test } from "vitest";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import type { FindingFilter } from "../../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { findings } from "../../../shared/findings/record.ts";
import { blockSize, reserve } from "../../../shared/lists/blocks.ts";
import { recordCapacity } from "../../aws/table/engine.ts";
import { useWorkers } from "../../scanning/in-process-workers.ts";
import {
  acknowledgedBySomebody,
  addFindings,
  idsInNewBlock,
  readFindings,
  requestAll,
  runWorkers,
  type Seeded,
  seedFindings,
  somebodyElse,
} from "./findings.ts";

useWorkers();

const early = "2026-01-01T00:00:00.000Z";
const late = "2026-06-01T00:00:00.000Z";

/** Findings of three scans and of none, early and late, of two domains, and some that are acknowledged. */
const seedVaried = async (): Promise<Seeded & { acknowledgedAt: string }> => {
  const seeded = await seedFindings({ emailCount: 12, perEmail: 3, furtherBlocks: 1 });
  const { org, emailIds } = seeded;
  for (const scanId of [3, 5, 8]) {
    const more = emailIds.map((emailId, index) => ({
      emailId,
      breachId: 200 + scanId,
      scanId,
      detectedAt: index % 3 === 0 ? early : late,
    }));
    seeded.findingIds.push(...(await addFindings(org, more, await idsInNewBlock(org, more.length))));
  }
  const ids = seeded.findingIds.filter((_, index) => index % 4 === 1);
  const { id } = await acknowledgements.request(org, { ids, resolution: "handled" }, somebodyElse);
  await runWorkers();
  return { ...seeded, acknowledgedAt: (await acknowledgements.get(org, id)).createdAt };
};

let seeded: Awaited<ReturnType<typeof seedVaried>>;
beforeAll(async () => {
  seeded = await seedVaried();
});

test.each<[title: string, filterOf: (given: typeof seeded) => FindingFilter]>([
  [
    "a time at which some were acknowledged, and a breach",
    ({ acknowledgedAt }) => ({ acknowledgedAt, breachId: 205 }),
  ],
  ["everything", () => ({})],
  ["what is not acknowledged", () => ({ acknowledged: false })],
  ["what is acknowledged", () => ({ acknowledged: true })],
  ["a breach", () => ({ breachId: 2 })],
  ["a domain", () => ({ domainId: 1 })],
  ["a scan", () => ({ scanId: 5 })],
  ["an e-mail", ({ emailIds }) => ({ emailId: emailIds[4] as number })],
  ["a time", () => ({ detectedBefore: late })],
  ["a scan, a domain and a state", () => ({ scanId: 8, domainId: 2, acknowledged: false })],
  [
    "an e-mail, a breach and a time",
    ({ emailIds }) => ({ emailId: emailIds[3] as number, breachId: 205, detectedBefore: late }),
  ],
  ["a breach that nobody has", () => ({ breachId: 999 })],
  ["an e-mail that is not there", () => ({ emailId: 999_999_999 })],
])("a filter by %s means what a comparison of every finding with it gives", async (_, filterOf) => {
  const filter = filterOf(seeded);
  const { org } = seeded;
  const expected = (await readFindings(org))
    .filter((row) => {
      const group = findings.groupOf(row);
      return (
        (filter.acknowledged ?? group.acknowledged) === group.acknowledged &&
        (filter.scanId ?? group.scanId) === group.scanId &&
        (filter.breachId ?? row.breachId) === row.breachId &&
        (filter.domainId ?? group.domainId) === group.domainId &&
        (filter.emailId ?? row.emailId) === row.emailId &&
        (filter.detectedBefore === undefined || row.firstDetectedAt < filter.detectedBefore) &&
        (filter.acknowledgedAt ?? row.acknowledgment?.at) === row.acknowledgment?.at
      );
    })
    .map(({ id }) => id);
  expect(await acknowledgements.countMatching(org, { filter })).toBe(expected.length);
  const { id, matching } = await requestAll(org, filter);
  await runWorkers();
  expect(matching).toBe(expected.length);
  const ended = await acknowledgements.get(org, id);
  expect(ended).toMatchObject({ status: "completed", acknowledged: matching });
  const carrying = (await readFindings(org)).filter((row) => row.acknowledgment?.at === ended.createdAt);
  expect(carrying.map((row) => row.id)).toEqual(expected);
});

test("a filter that needs only the tally reads no block", async () => {
  const { org, findingIds } = await seedFindings({ furtherBlocks: 4 });
  const { take } = recordCapacity();
  expect(await acknowledgements.countMatching(org, { filter: { acknowledged: false } })).toBe(
    findingIds.length,
  );
  // The scan lock before and after the tally.
  expect(take()).toMatchObject({ calls: 3 });
});

test("of a scan in progress just the findings written at the request are touched", async () => {
  const { org, emailIds } = await seedFindings({ emailCount: 20, perEmail: 2, furtherBlocks: 0 });
  const settled = (await readFindings(org)).map(({ id }) => id);
  await table.put({ ...keys.scanLock(org), scanId: 9 });
  const found = (some: readonly number[], breachId: number) =>
    some.map((emailId) => ({ emailId, breachId, scanId: 9 }));
  // Three workers have reserved ids; the first has not written yet, and the second only some.
  const [late, some, all] = [
    await reserve(org, "FINDING", 20),
    await reserve(org, "FINDING", 20),
    await reserve(org, "FINDING", 20),
  ];
  const written = [
    ...(await addFindings(org, found(emailIds.slice(10), 301), some.slice(10))),
    ...(await addFindings(org, found(emailIds, 302), all)),
  ];
  const { id, matching } = await requestAll(org);
  expect(matching).toBe(settled.length + written.length);
  // After the request, and before the worker: lower ids, higher ids, and the next scan.
  const added = [
    ...(await addFindings(org, found(emailIds, 300), late)),
    ...(await addFindings(org, found(emailIds.slice(0, 10), 301), some)),
    ...(await addFindings(org, found(emailIds, 303), await reserve(org, "FINDING", 20))),
  ];
  await table.remove(keys.scanLock(org));
  const next = emailIds.map((emailId) => ({ emailId, breachId: 304, scanId: 10 }));
  added.push(...(await addFindings(org, next, await reserve(org, "FINDING", 20))));
  await runWorkers();
  expect(await acknowledgements.get(org, id)).toMatchObject({ status: "completed", acknowledged: matching });
  const touched = await acknowledgedBySomebody(org);
  expect(touched).toEqual([...settled, ...written].sort((one, other) => one - other));
  expect(touched.filter((each) => added.includes(each))).toEqual([]);
});

test("of a scan in progress also whole blocks, which are not read to know them", async () => {
  const { org, emailIds } = await seedFindings({ emailCount: 8, perEmail: 1, furtherBlocks: 0 });
  await table.put({ ...keys.scanLock(org), scanId: 9 });
  const whole = Array.from({ length: blockSize }, (_, index) => ({
    emailId: emailIds[index % 8] as number,
    breachId: 400 + Math.floor(index / 8),
    scanId: 9,
  }));
  await addFindings(org, whole, await reserve(org, "FINDING", blockSize));
  const blocks = await findings.tally(org);
  const sizes = blocks.map(({ counts }) => [...counts.values()].reduce((sum, count) => sum + count, 0));
  expect(sizes).toContain(blockSize);
  const { id, matching } = await requestAll(org, { scanId: 9 });
  expect(matching).toBe(blockSize);
  await runWorkers();
  expect(await acknowledgements.get(org, id)).toMatchObject({ acknowledged: blockSize });
});
