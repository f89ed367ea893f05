/** People are told, once, of a breach whose severity has risen. */
import { expect, test } from "vitest";
import type { ChannelForm } from "../../shared/alerting/kinds/kind.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { announcement } from "../../shared/findings/acknowledgements/follow.ts";
import { work } from "../../shared/findings/acknowledgements/work.ts";
import * as findings from "../../shared/findings/finding.ts";
import { type Breach, breachOf } from "../../shared/hibp/breach.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  addFindings,
  idsInNewBlock,
  seedFindings,
  somebody,
  sweepAt,
} from "../findings/acknowledgements/findings.ts";
import { invocation, runOutboxOf, takeMessages, useWorkers } from "../scanning/in-process-workers.ts";
import { deliveriesOf } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";
import { attemptOf, mails, useMailServer } from "./mail-deliveries.ts";

useWorkers();
useMailServer();

let breaches = 5_000;

const setBreach = (id: number, severity: Breach["severity"], isSensitive = false): Promise<void> =>
  table.put({
    ...keys.breach(id),
    ...breachOf({ name: `Breach${id}`, title: `Breach ${id}`, severity, isSensitive }),
    id,
  });

/** An organization with twelve findings of a breach of severity low, two of them acknowledged. */
const seed = async (isSensitive = false): Promise<{ org: number; breachId: number }> => {
  const { org, emailIds } = await seedFindings({ emailCount: 12, perEmail: 1, furtherBlocks: 0 });
  const breachId = ++breaches;
  await setBreach(breachId, "low", isSensitive);
  const rows = emailIds.map((emailId) => ({ emailId, breachId, severity: 1 }));
  const ids = await addFindings(org, rows, await idsInNewBlock(org, rows.length));
  for (const id of ids.slice(0, 2)) await findings.acknowledge(org, { id, resolution: "handled" }, somebody);
  return { org, breachId };
};

const rise = async (org: number, breachId: number, severity: Breach["severity"], isSensitive = false) => {
  await table.transact([announcement(org)]);
  await setBreach(breachId, severity, isSensitive);
  await settle(org);
};

/** Sweeps and workers, until no finding has to follow; a worker may die on the way. */
const settle = async (org: number): Promise<void> => {
  for (let sweeps = 0; (await table.get(keys.severityLock(org))) !== undefined; sweeps++) {
    expect(sweeps).toBeLessThan(20);
    await sweepAndWork(org);
  }
};

const sweepAndWork = async (org: number): Promise<void> => {
  await sweepAt(keys.severityLock(org));
  for (let messages = await takeMessages("acknowledgements"); messages.length > 0; ) {
    for (const message of messages) await work(message, invocation()).catch(() => {});
    messages = await takeMessages("acknowledgements");
  }
  // Its message may be lost.
  await runOutboxOf(org);
};

const countsOf = async (org: number, channelIds: readonly number[]): Promise<number[]> =>
  Promise.all(channelIds.map(async (id) => (await deliveriesOf(org, id)).length));

const send = async (org: number, channelId: number): Promise<void> => {
  for (const row of await deliveriesOf(org, channelId)) await attemptOf(org, row);
};

test("a rise to high is told once to Slack and e-mail channels that want new breaches", async () => {
  const { org, breachId } = await seed();
  const email = await createChannel(org, {});
  const slack: ChannelForm = { channel: "slack", config: { webhookUrl: "https://192.0.32.8/" } };
  const scansAlone = { notifyOnNewBreach: false, notifyOnScanComplete: true, notifyOnScanError: true };
  const all = [
    email,
    await createChannel(org, {}, slack),
    await createChannel(org, {}, webhook),
    await createChannel(org, { minSeverity: "critical" }),
    await createChannel(org, {}, undefined, { isEnabled: false }),
    // Last: it would be told of others that are added.
    await createChannel(org, {}, undefined, scansAlone),
  ];
  await rise(org, breachId, "high");
  expect(await countsOf(org, all)).toEqual([1, 1, 0, 0, 0, 0]);
  await send(org, email);
  expect(mails.subjects).toEqual([expect.stringContaining(`Now High: Breach ${breachId}, `)]);
  expect(mails.texts[0]).toContain("Acknowledged findings that are open again: 2.");
  expect(mails.texts[0]).toContain(`/api/app/findings?breachId=${breachId}\n`);
  expect(mails.references).toEqual([`<breach-${breachId}@breach-monitor.invalid>`]);
  await rise(org, breachId, "high");
  expect(await countsOf(org, all)).toEqual([1, 1, 0, 0, 0, 0]);
});

test.each([
  ["low", "medium", 0],
  ["medium", "medium", 1],
  ["high", "medium", 0],
  ["high", "high", 1],
  ["critical", "critical", 1],
] as const)("a channel from %s on is told of a rise to %s %i times", async (minSeverity, severity, times) => {
  const { org, breachId } = await seed();
  const channelId = await createChannel(org, { minSeverity });
  await rise(org, breachId, severity);
  expect(await countsOf(org, [channelId])).toEqual([times]);
});

test("a second rise is told again, and the fall before it to nobody", async () => {
  const { org, breachId } = await seed();
  const channelId = await createChannel(org, {});
  // As long as a scan is in progress, the row that says what was told stays.
  await table.put({ ...keys.scanLock(org), scanId: 77 });
  for (const severity of ["high", "low", "high"] as const) {
    await table.transact([announcement(org)]);
    await setBreach(breachId, severity);
    await sweepAndWork(org);
  }
  expect(await countsOf(org, [channelId])).toEqual([2]);
  await table.remove(keys.scanLock(org));
  await settle(org);
  expect(await countsOf(org, [channelId])).toEqual([2]);
});

test("a sensitive breach is not named to a discreet channel", async () => {
  const { org, breachId } = await seed(true);
  const channelId = await createChannel(org, {});
  await rise(org, breachId, "critical", true);
  await send(org, channelId);
  expect(mails.subjects[0]).toContain("A sensitive breach is worse than was known: 12 people");
  expect(mails.texts[0]).not.toContain(`Breach ${breachId}`);
  expect(mails.texts[0]).toContain("/api/app/findings\n");
  expect(mails.references).toEqual([""]);
});

test.each(["before", "after"] as const)(
  "a worker that dies %s the transaction of the notice leaves one notice",
  async (when) => {
    const { org, breachId } = await seed();
    const channelId = await createChannel(org, {});
    const death = onTableRequest("the log entry of reopened findings", when, async () => {
      throw new Error("The worker died");
    });
    await rise(org, breachId, "critical");
    expect(death.happened).toBe(true);
    expect(await countsOf(org, [channelId])).toEqual([1]);
  },
);
