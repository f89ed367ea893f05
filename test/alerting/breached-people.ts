/** Scans that find the people of a domain in breaches, and what they wrote. */
import { beforeEach, expect } from "vitest";
import { type Delivery, deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { isOfDelivery } from "../../shared/alerting/deliveries/share.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { type FindingRecord, findings } from "../../shared/findings/record.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { levelOf } from "../../shared/hibp/severity.ts";
import type { Severity } from "../../shared/hibp/severity-schema.ts";
import {
  createOrganization,
  readScan,
  runChecks,
  startAndPlan,
  takeMessages,
  useWorkers,
  type Workers,
} from "../scanning/in-process-workers.ts";

export const domain = "acme.example";

/** Workers for the tests of a file, and for each of them no breached address and no message. */
export const useBreachedPeople = () => {
  const workers: Workers = useWorkers({ breached: { [domain]: {} } });
  beforeEach(async () => {
    await takeMessages("deliveries");
    await takeMessages("delivery-retries");
    workers.breached[domain] = {};
  });
  /** A whole scan, to which HIBP says the breaches of these people. */
  const scan = async (org: number, breached: Record<number, string[]>): Promise<number> => {
    workers.breached[domain] = breached;
    const scanId = await startAndPlan(org);
    await runChecks();
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed" });
    return scanId;
  };
  /** An organization with a completed scan behind it, unless `first`. `perBlock`: see `createOrganization`. */
  const organizationOf = async (
    people: number,
    { first = false, perBlock }: { first?: boolean; perBlock?: number } = {},
  ): Promise<number> => {
    const org = await createOrganization({ [domain]: people }, perBlock);
    if (!first) await scan(org, {});
    return org;
  };
  return { workers, scan, organizationOf };
};

export const inBreaches = (people: number, ...names: string[]): Record<number, string[]> =>
  Object.fromEntries(Array.from({ length: people }, (_, index) => [index, names]));

/** Sets what HIBP says of a breach, which is added if it is not there. */
export const describeBreach = async (name: string, fields: Record<string, unknown>): Promise<void> => {
  const id = (await catalog.idsFor([name])).get(name) ?? 0;
  await table.update(keys.breach(id), { set: fields });
  const level = fields.severity === undefined ? undefined : levelOf(fields.severity as Severity);
  await table.update(keys.breachName(name), { set: { level } });
};

/** All rows of a counted list. */
export const rowsOf = async <Tally, Row>(
  org: number,
  list: {
    tally: (org: number) => Promise<Tally>;
    blocks: (tally: Tally) => number[];
    members: (org: number, block: number) => Promise<Row[]>;
  },
): Promise<Row[]> => {
  const blocks = list.blocks(await list.tally(org));
  return (await Promise.all(blocks.map((block) => list.members(org, block)))).flat();
};

export const findingsOf = (org: number): Promise<FindingRecord[]> => rowsOf(org, findings);

export const deliveriesOf = async (org: number, channelId: number): Promise<Delivery[]> =>
  (await rowsOf(org, deliveries)).filter((row) => deliveries.groupOf(row).channelId === channelId);

/** How often the deliveries of a channel tell each finding. */
export const timesTold = async (org: number, channelId: number): Promise<Map<number, number>> => {
  const times = new Map<number, number>();
  const all = await findingsOf(org);
  for (const { id } of all) times.set(id, 0);
  const tell = (id: number) => times.set(id, (times.get(id) ?? 0) + 1);
  for (const { event, scans } of await deliveriesOf(org, channelId)) {
    if (event.type === "breach") event.email.findingIds.forEach(tell);
    if (event.type !== "gathered") continue;
    for (const row of all) {
      if (scans?.has(findings.groupOf(row).scanId ?? 0) && isOfDelivery(event, row)) tell(row.id);
    }
  }
  return times;
};

export const expectEachToldOnce = async (org: number, channelId: number): Promise<void> => {
  const times = await timesTold(org, channelId);
  expect([...times.values()].filter((count) => count !== 1)).toEqual([]);
  expect(times.size).toBeGreaterThan(0);
};
