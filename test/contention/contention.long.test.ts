/** People and workers of one organization at once, on a table as slow as DynamoDB. */

import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as log from "../../shared/access/activity/log.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as findings from "../../shared/findings/finding.ts";
import { blockSize } from "../../shared/lists/blocks.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import {
  createOrganization,
  invocation,
  runOutboxOf,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "../scanning/in-process-workers.ts";

const domainName = "contended.example";
/** Two chunks of the scan, whose findings share a block. */
const addressCount = 5 * blockSize;
const breachedCount = addressCount / 16;
const channelCount = 20;
const breaches = ["Alpha", "Beta", "Gamma"];

/**
 * With its pauses so many tries take less than the six seconds that people wait. Tries are counted and not
 * timed, since other tests share the machine.
 */
const mostTries = 24;

/** Workers try for as long as their invocation lasts, so that only the sum of their tries matters. */
const mostTriesOnAverage = 6;
const patienceMilliseconds = 40_000;

const latency = { read: 4, write: 8, transaction: 30 };
const breached = Object.fromEntries(
  Array.from({ length: breachedCount }, (_, index): [number, string[]] => [16 * index, breaches]),
);
useWorkers({ breached: { [domainName]: breached } }, { latency });

/** Counts the tries of each transaction. */
const watchTries = (): (() => number[]) => {
  const triesOf = new Map<unknown, number>();
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    const token = sent.input.ClientRequestToken;
    if (commandName.startsWith("TransactWrite")) triesOf.set(token, (triesOf.get(token) ?? 0) + 1);
    return next(sent);
  });
  return () => {
    stop();
    return [...triesOf.values()];
  };
};

/** Opens connections to the table a few at a time, as functions that are in use have theirs. */
const openConnections = async (act: () => Promise<unknown>): Promise<void> => {
  for (const count of [10, 20, 40, 50]) await Promise.all(Array.from({ length: count }, act));
};

test("a scan with 20 channels, and 50 calls at once, are done within a few tries", async () => {
  const org = await createOrganization({ [domainName]: addressCount });
  for (let count = 0; count < channelCount; count++) {
    const config = { url: `https://192.0.32.8/hooks/${count}` };
    const flags = { isEnabled: true, notifyOnNewBreach: true, notifyOnScanComplete: false };
    await configure.create(
      org,
      { channel: "webhook", config, ...flags, notifyOnScanError: false },
      administrator,
      async () => undefined,
    );
  }
  await startAndPlan(org);
  const messages = await takeMessages("scan-checks");
  const triesOfScan = watchTries();
  await withTimeOf(300_000, () => Promise.all(messages.map((message) => check(message, invocation()))));
  const scanned = triesOfScan();
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(breachedCount * breaches.length);
  await withTimeOf(300_000, () => runOutboxOf(org));
  expect(deliveries.sum(await deliveries.tally(org))).toBe(breachedCount * channelCount);
  expect(scanned.reduce((sum, each) => sum + each, 0) / scanned.length).toBeLessThanOrEqual(
    mostTriesOnAverage,
  );

  const actionCount = async () => (await log.list(org, { limit: 1, offset: 0 }, new Date())).total;
  const { breaches: open } = await findings.list(org, { limit: 100, offset: 0, acknowledged: false });
  const before = await actionCount();
  const { emails: addresses } = await emailList.list(org, { limit: 100, offset: 0 });
  const [domain] = await domains.list(org);
  const domainId = domain?.id ?? 0;
  const calls = Array.from({ length: 50 }, (_, index) => () => {
    const id = open[index]?.id ?? 0;
    if (index % 10 < 4) return findings.acknowledge(org, { id, resolution: "handled" }, administrator);
    if (index % 10 < 6)
      return emails.add(org, { email: `new${index}@${domain?.name}`, domainId }, administrator);
    if (index % 10 < 7) return assign(org, addresses[index]?.id ?? 0, { ownerName: "Ada" }, administrator);
    return findings.list(org, { limit: 50, offset: 0 });
  });
  await openConnections(() => domains.list(org));
  const triesOfCalls = watchTries();
  await withTimeOf(patienceMilliseconds, () => Promise.all(calls.map((call) => call())));
  expect(Math.max(...triesOfCalls())).toBeLessThanOrEqual(mostTries);
  expect(await actionCount()).toBe(before + 35);
  const { total } = await findings.list(org, { limit: 1, offset: 0, acknowledged: true });
  const { total: added } = await emailList.list(org, { limit: 1, offset: 0 });
  expect({ total, added }).toEqual({ total: 20, added: addressCount + 10 });
});
