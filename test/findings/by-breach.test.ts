/** The dashboard's filter by breach, on a table whose indexes lag as DynamoDB's do. */
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as counts from "../../shared/counts/counts.ts";
import { list } from "../../shared/findings/detailed.ts";
import type { FindingQuery } from "../../shared/findings/page.ts";
import { deletions, type FindingGroup, findings, newFinding } from "../../shared/findings/record.ts";
import { breachOf } from "../../shared/hibp/breach.ts";
import { levelOf } from "../../shared/hibp/severity.ts";
import { reserve } from "../../shared/lists/blocks.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";

const lagMilliseconds = 400;

/** As many as a transaction takes with the counters of their blocks. */
const findingsPerTransaction = 90;

useEngine({ indexLag: lagMilliseconds });
beforeAll(async () => {
  for (const id of [1, 2]) {
    await table.put({ ...keys.breach(id), ...breachOf({ name: `Breach${id}` }), id });
  }
  // The first query of an index gives it the content of the table, which lags from then on.
  await list(1, { limit: 1, offset: 0, breachId: 1 });
});

type Known = { id: number; breachId: number; firstDetectedAt: string; group: FindingGroup };

let org = 0;
beforeEach(() => {
  org++;
});

/** Writes findings as scans do: half of breach 1, of two domains and two scans. Newest last. */
const detect = async (count: number, breachOf = (place: number) => 1 + (place % 2)): Promise<Known[]> => {
  const known: Known[] = [];
  for (const some of chunk(await reserve(org, "FINDING", count), findingsPerTransaction)) {
    const made = some.map((reserved, at) => {
      const place = known.length + at;
      const group = {
        scanId: 1 + (place % 3),
        acknowledged: false,
        domainId: 1 + (place % 5),
        severity: 1 + (place % 4),
        isHistory: false,
        told: false,
        endedBy: 0,
      };
      const { id, createdAt: firstDetectedAt } = reserved;
      return { reserved, id, breachId: breachOf(place), firstDetectedAt, group, emailId: place + 1 };
    });
    await table.transact([
      ...findings.writes(
        org,
        made.map(({ reserved, group, emailId, breachId, firstDetectedAt }) => {
          const email = `user${emailId}@demo.example`;
          const row = newFinding(org, { emailId, email, breachId, firstDetectedAt });
          return findings.put(org, reserved, group, row);
        }),
      ),
      ...counts.writes(org, { findings: made.map(({ group, ...each }) => ({ ...each, to: group })) }),
    ]);
    known.push(...made);
  }
  return known;
};

const acknowledge = async (finding: Known | undefined): Promise<void> => {
  if (finding === undefined) throw new Error("There is no such finding");
  const from = finding.group;
  const to = { ...from, acknowledged: true };
  const acknowledgment = {
    at: finding.firstDetectedAt,
    by: administrator,
    resolution: "handled",
    reason: null,
  } as const;
  await table.transact([
    ...findings.writes(org, [findings.change(org, finding.id, { from, to, set: { acknowledgment } })]),
    ...counts.writes(org, { findings: [{ ...finding, from, to }] }),
  ]);
  finding.group = to;
};

const remove = async (finding: Known | undefined): Promise<void> => {
  const row = await findings.get(org, finding?.id ?? 0);
  if (row === undefined) throw new Error("There is no such finding");
  await table.transact(deletions(org, [row]));
};

/** What is shown of breach 1. */
const page = async (filter: Partial<FindingQuery> = {}): Promise<{ ids: number[]; total: number }> => {
  const { breaches: shown, total } = await list(org, { limit: 100, offset: 0, breachId: 1, ...filter });
  for (const { acknowledged, breach } of shown) {
    expect(breach.id).toBe(1);
    if (filter.acknowledged !== undefined) expect(acknowledged).toBe(filter.acknowledged);
  }
  return { ids: shown.map(({ id }) => id), total };
};

/** What a page must show of these findings. */
const expected = (
  known: readonly Known[],
  { limit = 100, offset = 0, acknowledged, domainId, scanId, severity }: Partial<FindingQuery> = {},
): { ids: number[]; total: number } => {
  const ids = known
    .filter(({ breachId }) => breachId === 1)
    .filter(({ group }) => acknowledged === undefined || group.acknowledged === acknowledged)
    .filter(({ group }) => domainId === undefined || group.domainId === domainId)
    .filter(({ group }) => scanId === undefined || group.scanId === scanId)
    .filter(({ group }) => severity?.some((each) => levelOf(each) === group.severity) ?? true)
    .map(({ id }) => id)
    .reverse();
  return { ids: ids.slice(offset, offset + limit), total: ids.length };
};

/** Waits until the index has caught up. */
const isCaughtUp = (known: readonly Known[], filter: Partial<FindingQuery> = {}): Promise<void> =>
  vi.waitFor(async () => expect(await page(filter)).toEqual(expected(known, filter)), { timeout: 90_000 });

test("once the index has caught up, every page is that of a naive list", async () => {
  const known = await detect(180);
  for (const finding of known.filter((_, place) => place % 7 === 0)) await acknowledge(finding);
  await isCaughtUp(known);
  const state = { acknowledged: true };
  await isCaughtUp(known, state);
  const filters: Partial<FindingQuery>[] = [
    {},
    state,
    { acknowledged: false },
    { severity: ["critical", "high"], acknowledged: false },
    { severity: ["medium", "high"], domainId: 1, scanId: 3 },
    { scanId: 3 },
  ];
  for (const filter of filters) {
    for (const offset of [0, 9, 85, 500]) {
      const query = { ...filter, offset, limit: 10 };
      expect([query, await page(query)]).toEqual([query, expected(known, query)]);
    }
  }
});

test("a finding that was detected a moment ago is counted at once and shown soon", async () => {
  const known = await detect(20);
  await isCaughtUp(known);
  known.push(...(await detect(1, () => 1)));
  const { ids, total } = await page();
  expect(total).toBe(11);
  expect(ids.filter((id) => id !== known.at(-1)?.id)).toEqual(expected(known.slice(0, -1)).ids);
  await isCaughtUp(known);
});

test("a finding that was acknowledged a moment ago is never shown as open", async () => {
  const known = await detect(20);
  await isCaughtUp(known);
  await acknowledge(known[4]);
  const open = { acknowledged: false };
  // The index may still call it open; its own row decides, and the counts give the total.
  expect(await page(open)).toEqual(expected(known, open));
  expect((await page({ acknowledged: true })).total).toBe(1);
  expect(await page()).toEqual(expected(known));
  await isCaughtUp(known, { acknowledged: true });
});

test("a finding that was deleted a moment ago is never shown", async () => {
  const known = await detect(20);
  await isCaughtUp(known);
  await remove(known[4]);
  known.splice(4, 1);
  expect(await page()).toEqual(expected(known));
});

test("a page anywhere in a breach costs little more than what it shows", async () => {
  const known = await detect(1_100, () => 1);
  for (const offset of [0, 1_050]) await isCaughtUp(known, { offset });
  const capacity = recordCapacity();
  const limit = 50;
  // A finding, its e-mail, and the index for a thousand findings that are newer.
  const [each, forThousand] = [3, 20];
  for (const [filter, thousands] of [
    [{ offset: 0 }, 0],
    [{ offset: 1_050 }, 2],
    [{ offset: 0, domainId: 5 }, 2],
  ] as const) {
    capacity.take();
    expect((await page({ ...filter, limit })).ids).toHaveLength(limit);
    expect(capacity.take().readUnits).toBeLessThanOrEqual(each * limit + forThousand * thousands);
  }
});
