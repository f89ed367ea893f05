import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as breachIndex from "../../shared/findings/breach-index.ts";
import * as notes from "../../shared/findings/breach-notes.ts";
import { decodeIds, encodeIds } from "../../shared/findings/id-list.ts";
import { type FindingGroup, findings, following } from "../../shared/findings/record.ts";
import { firstIdOf, reserve } from "../../shared/lists/blocks.ts";
import { auditBreachIndex } from "../../shared/operations/audit/breach-index.ts";
import { FindingIndex } from "../../shared/operations/audit/finding-index.ts";
import { createInspector } from "../../shared/operations/audit/inspector.ts";
import { type Engine, startEngine } from "../aws/table/engine.ts";
import { onTableRequest } from "../scanning/in-process-workers.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

type Known = { id: number; breachId: number; group: FindingGroup };

let lastOrganization = 0;

/** An organization whose findings are written like the service writes them, and a naive list of them. */
const createFindings = (org = ++lastOrganization) => {
  const known = new Map<number, Known>();
  const firstDetectedAt = "2026-11-01T00:00:00.000Z";
  // As workers at the same time do, successive writes note in different rows of a block.
  let writes = 0;
  const next = () => ({ part: (5 * writes++) % 12 });
  return {
    org,
    known,
    detect: async (
      some: readonly { breachId: number; domainId: number; scanId: number }[],
    ): Promise<void> => {
      const reserved = await reserve(org, "FINDING", some.length);
      const found = some.map(({ breachId, domainId, scanId }, at) => {
        const group = { scanId, acknowledged: false, domainId };
        return { reserved: reserved[at] as (typeof reserved)[number], breachId, group };
      });
      await table.transact([
        ...findings.writes(
          org,
          found.map(({ reserved: slot, breachId, group }) => {
            const row = {
              emailId: 1,
              email: "a@b.example",
              domainId: group.domainId,
              breachId,
              firstDetectedAt,
            };
            return findings.put(org, slot, group, row);
          }),
        ),
        ...following(
          org,
          found.map(({ reserved: { id }, breachId, group }) => ({
            id,
            breachId,
            firstDetectedAt,
            to: group,
          })),
          next(),
        ),
      ]);
      for (const { reserved: slot, ...rest } of found) known.set(slot.id, { id: slot.id, ...rest });
    },
    acknowledge: async ({ id, breachId, group }: Known): Promise<void> => {
      const to = { ...group, acknowledged: true };
      await table.transact([
        ...findings.writes(org, [findings.change(org, id, { from: group, to, set: { acknowledgment: {} } })]),
        ...following(org, [{ id, breachId, firstDetectedAt, from: group, to }], next()),
      ]);
      known.set(id, { id, breachId, group: to });
    },
    remove: async ({ id, breachId, group }: Known): Promise<void> => {
      await table.transact([
        ...findings.writes(org, [findings.delete(org, id, group)]),
        ...following(org, [{ id, breachId, firstDetectedAt, from: group }], next()),
      ]);
      known.delete(id);
    },
  };
};

type Findings = ReturnType<typeof createFindings>;

const filters: Partial<FindingGroup>[] = [
  {},
  { acknowledged: true },
  { acknowledged: false },
  { scanId: 2 },
  { domainId: 1, acknowledged: false },
  { scanId: 3, domainId: 2, acknowledged: true },
];

const expectRight = async ({ org, known }: Findings): Promise<void> => {
  for (let breachId = 1; breachId <= 4; breachId++) {
    for (const filter of filters) {
      const matches = (group: FindingGroup): boolean =>
        Object.entries(filter).every(([name, value]) => group[name as keyof FindingGroup] === value);
      const expected = [...known.values()]
        .filter((each) => each.breachId === breachId && matches(each.group))
        .map(({ id }) => id)
        .sort((one, other) => other - one);
      expect(await breachIndex.idsOf(org, breachId, matches)).toEqual(expected);
    }
  }
};

const detected = fc.record({
  breachId: fc.integer({ min: 1, max: 4 }),
  domainId: fc.integer({ min: 1, max: 2 }),
  scanId: fc.integer({ min: 1, max: 3 }),
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ detect: fc.array(detected, { minLength: 1, maxLength: 40 }) }) },
  { weight: 3, arbitrary: fc.record({ acknowledge: fc.array(fc.nat(), { maxLength: 10 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.array(fc.nat(), { maxLength: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ takeOver: fc.integer({ min: 1, max: 4 }) }) },
);

/** One of the findings, and which finding it is. */
const chosen = ({ known }: Findings, place: number): Known | undefined =>
  [...known.values()][place % Math.max(1, known.size)];

/** A take-over that is stopped when it asks for the `count`-th time whether it may go on. */
const takeOver = ({ org }: Findings, count: number): Promise<void> => {
  let left = count;
  return breachIndex.takeOver(org, () => left-- > 0, { always: true });
};

test("ids are encoded and decoded, with gaps of any size", () => {
  const ids = fc.uniqueArray(fc.nat(Number.MAX_SAFE_INTEGER), { maxLength: 200 });
  fc.assert(
    fc.property(ids, (some) => {
      const ascending = some.toSorted((one, other) => one - other);
      expect(decodeIds(encodeIds(ascending))).toEqual(ascending);
    }),
  );
});

describe("ids of a breach's findings are those of a naive list", () => {
  test("after random histories, with take-overs that are stopped anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const some = createFindings();
        for (const each of steps) {
          if ("detect" in each) await some.detect(each.detect);
          else if ("takeOver" in each) await takeOver(some, each.takeOver);
          else if ("acknowledge" in each) {
            for (const place of each.acknowledge) {
              const finding = chosen(some, place);
              if (finding !== undefined) await some.acknowledge(finding);
            }
          } else {
            for (const place of each.remove) {
              const finding = chosen(some, place);
              if (finding !== undefined) await some.remove(finding);
            }
          }
        }
        await expectRight(some);
        await breachIndex.takeOver(some.org, () => true, { always: true });
        expect(await notes.read(some.org)).toEqual([]);
        await expectRight(some);
      }),
      { numRuns: 25 },
    );
  });

  test("while several take over and others write", async () => {
    const some = createFindings();
    const write = async (scanId: number): Promise<void> => {
      for (let round = 0; round < 6; round++) {
        await some.detect(
          Array.from({ length: 30 }, (_, at) => ({ breachId: 1 + (at % 4), domainId: 1 + (at % 2), scanId })),
        );
        const mine = [...some.known.values()].filter(({ group }) => group.scanId === scanId);
        for (const finding of mine.slice(-8, -4)) await some.acknowledge(finding);
        for (const finding of mine.slice(-4)) await some.remove(finding);
      }
    };
    let writing = true;
    const takeOvers = [1, 2, 3].map(async () => {
      while (writing) await breachIndex.takeOver(some.org, () => true, { always: true });
    });
    await Promise.all([1, 2, 3].map(write));
    writing = false;
    await Promise.all(takeOvers);
    await expectRight(some);
    await breachIndex.takeOver(some.org, () => true, { always: true });
    await expectRight(some);
  });

  test("with more findings than a segment takes", async () => {
    const some = createFindings();
    for (let part = 0; part < 60; part++) {
      await some.detect(
        Array.from({ length: 90 }, (_, at) => ({ breachId: 1, domainId: 1, scanId: 1 + (at % 2) })),
      );
    }
    await breachIndex.takeOver(some.org, () => true, { always: true });
    const segments = await table.query({ pk: keys.breachSegment(some.org, 1, 0).pk });
    expect(segments).toHaveLength(2);
    for (const place of [5, 4_000, 5_000]) await some.acknowledge(chosen(some, place) as Known);
    await some.remove(chosen(some, 7) as Known);
    await some.detect([{ breachId: 1, domainId: 1, scanId: 2 }]);
    await expectRight(some);
    await breachIndex.takeOver(some.org, () => true, { always: true });
    await expectRight(some);
  });

  const groupKey = findings.groupKeyOf({ scanId: 1, acknowledged: false, domainId: 1 });
  const noteDetected = (org: number, id: number) =>
    table.transact(notes.writes(org, [{ id, breachId: 1, to: groupKey }], 3));
  const noteRemoved = async (org: number, id: number): Promise<void> => {
    await noteDetected(org, id);
    await table.transact(notes.writes(org, [{ id, breachId: 1, from: groupKey }], 0));
  };

  test("where a take-over reads only some rows of a block", async () => {
    const org = ++lastOrganization;
    // 127 rows, then a block of two rows, of which the first is the last that is read.
    for (let block = 0; block < 63; block++) await noteRemoved(org, firstIdOf(block) + 1);
    await table.transact(notes.writes(org, [{ id: firstIdOf(63) + 1, breachId: 1, from: "x" }], 0));
    await noteRemoved(org, firstIdOf(64) + 1);
    await breachIndex.takeOver(org, () => true, { always: true });
    expect(await notes.read(org)).toEqual([]);
    expect(await breachIndex.idsOf(org, 1, () => true)).toEqual([]);
  });

  test("where something is noted in one of a block's rows while they are forgotten", async () => {
    const org = ++lastOrganization;
    const id = firstIdOf(1) + 1;
    await noteRemoved(org, id);
    const noted = onTableRequest(keys.findingNotes(org, 1, 3).sk, "before", () => noteDetected(org, id + 1));
    await breachIndex.takeOver(org, () => true, { always: true });
    expect(noted.happened).toBe(true);
    await breachIndex.takeOver(org, () => true, { always: true });
    expect(await notes.read(org)).toEqual([]);
    expect(await breachIndex.idsOf(org, 1, () => true)).toEqual([id + 1]);
  });

  // An old take-over has read that a finding was detected. Before it reads or writes the index, the finding is deleted, and a newer one
  // takes that over.
  test.each([
    { before: "reads an empty index", part: "FINDING-BREACH#1", isFirst: true },
    { before: "reads the index", part: "FINDING-BREACH#1", isFirst: false },
    { before: "writes a first segment", part: '"count":{"N":', isFirst: true },
    { before: "writes a segment again", part: '"count":{"N":', isFirst: false },
  ])("when an old take-over meets a newer one before it $before", async ({ part, isFirst }) => {
    const some = createFindings();
    if (!isFirst) {
      await some.detect([{ breachId: 1, domainId: 1, scanId: 1 }]);
      await breachIndex.takeOver(some.org, () => true, { always: true });
    }
    await some.detect([{ breachId: 1, domainId: 1, scanId: 1 }]);
    const finding = [...some.known.values()].at(-1) as Known;
    const newer = onTableRequest(part, "before", async () => {
      await some.remove(finding);
      await breachIndex.takeOver(some.org, () => true, { always: true });
    });
    await breachIndex.takeOver(some.org, () => true, { always: true });
    expect(newer.happened).toBe(true);
    expect(await notes.read(some.org)).toEqual([]);
    await expectRight(some);
  });
});

test("an audit repairs a wrong index, and builds it where there is none", async () => {
  const org = ++lastOrganization;
  const some = createFindings(org);
  await some.detect(
    Array.from({ length: 60 }, (_, at) => ({ breachId: 1 + (at % 2), domainId: 1, scanId: 1 })),
  );
  await breachIndex.takeOver(org, () => true, { always: true });
  await some.acknowledge(chosen(some, 4) as Known);
  const inspected = async (repair: boolean) => {
    const index = new FindingIndex();
    for (const [id, { breachId, group }] of some.known) {
      index.add({ id, emailId: 1, breachId, group: findings.groupKeyOf(group) });
    }
    const inspector = createInspector({ repair });
    await auditBreachIndex(org, index, inspector);
    return inspector.differences;
  };
  expect(await inspected(false)).toEqual([]);

  // A finding that is written without a note, one that is deleted, and one that is acknowledged without.
  const [lost, gone, moved] = [7, 8, 9].map((place) => chosen(some, place) as Known);
  if (lost === undefined || gone === undefined || moved === undefined) throw new Error("No findings");
  await table.transact(findings.writes(org, [findings.delete(org, gone.id, gone.group)]));
  some.known.delete(gone.id);
  const acknowledged = { ...moved.group, acknowledged: true };
  await table.transact(
    findings.writes(org, [findings.change(org, moved.id, { from: moved.group, to: acknowledged })]),
  );
  some.known.set(moved.id, { ...moved, group: acknowledged });
  await table.transact(notes.writes(org, [{ id: lost.id, breachId: lost.breachId, from: "1-0-1" }]));
  await breachIndex.takeOver(org, () => true, { always: true });
  const found = await inspected(true);
  const reported = found.map(({ kind, id, repaired }) => ({ kind, id, repaired }));
  expect(reported.sort((one, other) => one.id - other.id)).toEqual([
    { kind: "breach", id: 1, repaired: true },
    { kind: "breach", id: 2, repaired: true },
  ]);
  expect(found.map(({ says }) => says).join()).toContain(`finding ${lost.id} is not indexed`);
  expect(found.map(({ says }) => says).join()).toContain(`finding ${gone.id} is indexed and not there`);
  await expectRight(some);

  for (const breachId of [1, 2]) await table.remove(keys.breachSegment(org, breachId, 0));
  for (const { block, part } of await notes.read(org))
    await table.remove(keys.findingNotes(org, block, part));
  expect((await inspected(true)).every(({ repaired }) => repaired)).toBe(true);
  expect(await inspected(false)).toEqual([]);
  await expectRight(some);
});
