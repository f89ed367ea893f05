/** Workers of one scan on a table that gives less than they could take. */
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { undisturbed } from "../../local/dynamodb/behaviour.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as findings from "../../shared/findings/finding.ts";
import { check } from "../../shared/scanning/check.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import {
  createOrganization,
  invocation,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "../scanning/in-process-workers.ts";

const domainName = "throttled.example";
const addressCount = 10 * 512;
const breachedCount = addressCount / 4;
const breaches = ["Alpha", "Beta", "Gamma"];
const breached = Object.fromEntries(
  Array.from({ length: breachedCount }, (_, index): [number, string[]] => [4 * index, breaches]),
);
const latency = { read: 4, write: 8, transaction: 30 };
useWorkers(
  { breached: { [domainName]: breached } },
  { ...undisturbed, latency, partitions: { count: 1, placement: 0 } },
);

test("workers slow down on a throttled table, and each ends in its first invocation", async () => {
  const org = await createOrganization({ [domainName]: addressCount });
  await startAndPlan(org);
  const messages = await takeMessages("scan-checks");
  const count = { written: 0, refused: 0 };
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    if (!commandName.startsWith("TransactWrite")) return next(sent);
    try {
      const reply = await next(sent);
      count.written++;
      return reply;
    } catch (error) {
      if (error instanceof TransactionCanceledException) count.refused++;
      throw error;
    }
  });
  await Promise.all(messages.map((message) => withTimeOf(120_000, () => check(message, invocation()))));
  stop();
  console.log("throttled scan:", JSON.stringify({ chunks: messages.length, ...count }));
  expect(messages).toHaveLength(10);
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(breachedCount * breaches.length);
  expect(count.refused).toBeGreaterThan(0);
  expect(count.refused).toBeLessThan(2 * count.written);
});
