import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { chunk } from "../../../shared/aws/table/chunk.ts";
import * as catalog from "../../../shared/hibp/catalog.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { ignore } from "../../../shared/monitoring/unwatched/change.ts";
import { keep, newsIn } from "../../../shared/monitoring/unwatched/keep.ts";
import { removeAll, roots } from "../../../shared/monitoring/unwatched/store.ts";
import { list } from "../../../shared/monitoring/unwatched/unwatched-list.ts";
import { Chance } from "../../alerting/faults/chance.ts";
import { recordCapacity } from "../../aws/table/engine.ts";
import { createOrganization, useWorkers } from "../../scanning/in-process-workers.ts";
import { claim } from "./claim.ts";

useWorkers({ breached: {} });

/** Aliases like those of people, and how they are breached: 300 breaches, four of each on average. */
const manyAliases = (count: number): Map<string, string[]> => {
  const chance = new Chance(`many ${count}`);
  const word = (name: string) => Math.floor(chance.draw(name) * 36 ** 7).toString(36);
  return new Map(
    Array.from({ length: count }, (_, at) => [
      `${word(`first ${at}`)}.${word(`last ${at}`)}${at}`,
      Array.from(
        { length: 1 + Math.floor(chance.draw(`count ${at}`) * 7) },
        (_each, nth) => `Breach${Math.floor(chance.draw(`breach ${at} ${nth}`) * 300)}`,
      ),
    ]),
  );
};

test("100,000 unwatched addresses cost a few bytes each, and readers see one answer", async () => {
  const count = 100_000;
  const org = await createOrganization({ "many.example": 1 });
  const [domain] = (await domains.list(org)) as [domains.Domain];
  const breachNames = manyAliases(count);
  const names = new Set([...breachNames.values()].flat());
  // Of names that HIBP does not list, an answer may have a hundred.
  const breachIds = new Map<string, number>();
  for (const some of chunk([...names], 90)) {
    for (const [name, id] of await catalog.idsFor(some)) breachIds.set(name, id);
  }
  const capacity = recordCapacity();
  const costOf = async (act: () => Promise<unknown>) => {
    await act();
    return capacity.take();
  };
  const answer = async (answered: ReadonlyMap<string, string[]> = breachNames) => {
    const claimed = await claim(org, domain);
    capacity.take();
    const about = { domain: claimed, breachNames: answered };
    const news = newsIn(about, { watched: new Map(), breachIds }, (await roots(org))[0]);
    if (news !== undefined) await keep(org, 1, news);
  };
  const first = await costOf(answer);
  expect(first.writeUnits).toBeLessThan(count / 24);
  expect(await costOf(answer)).toMatchObject({ readUnits: 1, writeUnits: 0 });

  const page = (options: { offset?: number; ignored?: boolean } = {}) =>
    list(org, { limit: 50, offset: 0, ...options });
  let shown = await page();
  expect(shown).toMatchObject({ total: count, unwatched: count });
  capacity.take();
  expect((await costOf(page)).readUnits).toBeLessThan(count / 180);
  const ids = shown.addresses.map(({ id }) => id);
  const ignoring = await costOf(() => ignore(org, { ids }, true, administrator));
  expect(ignoring.writeUnits).toBeLessThan(30);
  expect(await costOf(answer)).toMatchObject({ writeUnits: 0 });
  shown = await page({ ignored: false });
  expect(shown).toMatchObject({ total: count - 50, unwatched: count - 50 });

  // Half of them vanish and come back, while somebody reads.
  const half = new Map([...breachNames].slice(0, count / 2));
  let isOver = false;
  const turning = (async () => {
    for (const each of [half, breachNames, half]) await answer(each);
    isOver = true;
  })();
  const totals = new Set<number>();
  while (!isOver) totals.add((await page()).total);
  await turning;
  totals.add((await page()).total);
  expect([...totals].sort((one, other) => one - other)).toEqual([count / 2, count]);

  await removeAll(org, domain.id);
  expect(await page()).toMatchObject({ addresses: [], total: 0, unwatched: 0 });
});
