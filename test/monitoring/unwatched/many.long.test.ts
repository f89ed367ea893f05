import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { chunk } from "../../../shared/aws/table/chunk.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import * as catalog from "../../../shared/monitoring/hibp/catalog.ts";
import { ignore } from "../../../shared/monitoring/unwatched/change.ts";
import { compareAll } from "../../../shared/monitoring/unwatched/compare.ts";
import { removeAll } from "../../../shared/monitoring/unwatched/record.ts";
import { list } from "../../../shared/monitoring/unwatched/unwatched-list.ts";
import { Chance } from "../../alerting/faults/chance.ts";
import { recordCapacity } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
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

test("30,000 unwatched addresses cost what changes", async () => {
  const count = 30_000;
  const org = await createOrganization({ [`many${count}.example`]: 1 });
  const [domain] = await domains.list(org);
  const breachNames = manyAliases(count);
  const names = new Set([...breachNames.values()].flat());
  // Of names that HIBP does not list, an answer may have a hundred.
  const breachIds = new Map<string, number>();
  for (const some of chunk([...names], 90)) {
    for (const [name, id] of await catalog.idsFor(some)) breachIds.set(name, id);
  }
  const known = { watched: new Map(), breachIds };
  const claimed = await claim(org, domain as domains.Domain);
  const capacity = recordCapacity();
  const costOf = async (act: () => Promise<unknown>) => {
    await act();
    return capacity.take();
  };
  const compare = () => compareAll(org, [{ domain: claimed, breachNames }], known);
  const first = await costOf(compare);
  const unchanged = await costOf(compare);
  const { addresses } = await list(org, { limit: 50, offset: 0 });
  const ids = addresses.map(({ id }) => id);
  await ignore(org, ids, true, administrator);
  capacity.take();
  const afterIgnoring = await costOf(compare);
  breachNames.set("one.more", ["Breach1"]);
  const oneMore = await costOf(compare);
  for (const same of [unchanged, afterIgnoring]) expect(same.writeUnits).toBe(0);
  for (const each of [unchanged, afterIgnoring, oneMore])
    expect(each.readUnits).toBeLessThanOrEqual(count / 15);
  expect(oneMore.writeUnits).toBeLessThan(50);
  expect(first.writeUnits).toBeLessThan(count * 2.2);
  expect(await list(org, { limit: 1, offset: 0, ignored: false })).toMatchObject({
    total: count + 1 - 50,
    unwatched: count + 1 - 50,
  });
  // A request has a few seconds to remove them with their domain.
  let [writing, most] = [0, 0];
  intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
    if (commandName !== "TransactWriteItemsCommand") return next(sent);
    most = Math.max(most, ++writing);
    return next(sent).finally(() => writing--);
  });
  await removeAll(org, claimed.id);
  expect(most).toBe(16);
  expect((await list(org, { limit: 1, offset: 0 })).total).toBe(0);
});
