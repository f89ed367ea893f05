/** What the list of an organization's breaches costs, and that their dates never leave out a finding. */
import { beforeAll, expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as counts from "../../shared/counts/counts.ts";
import * as breachDates from "../../shared/findings/breach-dates.ts";
import { get, list } from "../../shared/findings/breaches.ts";
import { breachOf } from "../../shared/hibp/breach.ts";
import { levelOf } from "../../shared/hibp/severity.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";

const breachCount = 900;
const ids = Array.from({ length: breachCount }, (_, index) => index + 1);
const org = 12;
const day = Date.parse("2026-11-01T00:00:00.000Z");

/** Gives the catalog a version that no instance knows. */
const settle = (token: string): Promise<void> =>
  table.put({ ...keys.breachNames(), token, recorded: { token, at: "2026-11-01T00:00:00.000Z" } });

useEngine();
beforeAll(async () => {
  const rows = ids.flatMap((id) => {
    const breach = breachOf({ name: `Breach${id}`, title: `Title ${id}`, domain: `site${id}.example` });
    return [
      { ...keys.breach(id), ...breach, id },
      {
        ...keys.breachName(breach.name),
        id,
        title: breach.title,
        domain: breach.domain,
        level: levelOf(breach.severity),
      },
      { ...keys.breachDates(org, id), first: day, last: day + id },
    ];
  });
  for (const some of chunk(rows, 100)) await table.transact(some.map((put) => ({ put })));
  await settle("first");
  // Each row counts each breach, as of a million findings.
  for (const place of counts.places) {
    const open = ids.map((id) => [`${id}-0-${1 + (id % 4)}`, id % 100] as const);
    const acknowledged = ids.map((id) => [`${id}-1-${1 + (id % 4)}`, 50] as const);
    await table.put({
      ...keys.counts(org, String(place)),
      ...Object.fromEntries([...open, ...acknowledged]),
    });
  }
});

test("a page of 900 breaches takes 60 read units in any order and with any filter", async () => {
  const page = { limit: 50, offset: 0 } as const;
  const capacity = recordCapacity();
  // An instance that has read no breach yet.
  expect((await list(org, { ...page, order: "severity" })).total).toBe(breachCount);
  expect(capacity.take().readUnits).toBeLessThanOrEqual(60);
  // Another such instance, whose people search.
  await settle("another");
  capacity.take();
  expect((await list(org, { ...page, order: "severity", q: "title" })).total).toBe(breachCount);
  expect(capacity.take().readUnits).toBeLessThanOrEqual(60);
  // Reads every breach, and what each is called, once.
  const all = { ...page, limit: breachCount, order: "severity", q: "title" } as const;
  expect((await list(org, all)).total).toBe(breachCount);
  for (const [query, total] of [
    [{ order: "severity" }, 900],
    [{ order: "newest", offset: 850 }, 900],
    [{ order: "open", state: "open" }, 891],
    [{ order: "open", state: "handled" }, 9],
    [{ order: "severity", severity: ["critical", "low"] }, 450],
    [{ order: "newest", q: "SITE7" }, 111],
  ] as const) {
    capacity.take();
    const listed = await list(org, {
      ...page,
      ...query,
      severity: "severity" in query ? [...query.severity] : undefined,
    });
    expect([query, listed.total, listed.breaches.length]).toEqual([query, total, Math.min(total, 50)]);
    expect(capacity.take().readUnits).toBeLessThanOrEqual(60);
  }
  expect((await list(org, { ...page, limit: 2, order: "newest" })).breaches.map(({ id }) => id)).toEqual([
    900, 899,
  ]);
  expect(await get(org, 7)).toMatchObject({
    title: "Title 7",
    open: 56,
    acknowledged: 400,
    firstDetectedAt: "2026-11-01T00:00:00.000Z",
    lastDetectedAt: "2026-11-01T00:00:00.007Z",
  });
});

test("workers that widen the dates of the same breaches at once lose nothing", async () => {
  const detected = Array.from({ length: 40 }, (_, index) => ({
    breachId: 1 + (index % 3),
    firstDetectedAt: new Date(day + ((index * 17) % 40)).toISOString(),
  }));
  const workers = [0, 1, 2, 3].map((worker) => detected.filter((_, index) => index % 4 === worker));
  await Promise.all(
    workers.map(async (some) => {
      const known = new Map<number, breachDates.Dates>();
      for (const each of some) await breachDates.widen(99, [each], known);
    }),
  );
  expect(await breachDates.read(99)).toEqual(breachDates.datesOf(detected));
});
