/** Kills the worker after each of its requests to the table. */
import { expect, test } from "vitest";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import { invocation, takeMessage, takeMessages, useWorkers } from "../../scanning/in-process-workers.ts";
import { expectDone, requestAll, runWorkers, seedFindings, sweepAt } from "./findings.ts";
import { killedAfter } from "./killed.ts";

useWorkers();

const small = { emailCount: 12, perEmail: 4, furtherBlocks: 2 };
const count = 12 * 4 + 12 * 2;

test("a worker that dies after any of its requests is followed by one that finishes", async () => {
  const { org: whole } = await seedFindings(small);
  await requestAll(whole);
  const message = await takeMessage("acknowledgements");
  const requests = await killedAfter(Number.POSITIVE_INFINITY, () => work(message, invocation()));
  expect(requests).toBeGreaterThan(10);

  for (let number = 0; number <= requests; number++) {
    const { org } = await seedFindings(small);
    const { id, matching } = await requestAll(org);
    const first = await takeMessage("acknowledgements");
    await killedAfter(number, () => work(first, invocation()));
    // Nothing is left of the message: only the table knows.
    await sweepAt(keys.acknowledgementLock(org));
    await runWorkers();
    await expectDone(org, id, { matching, acknowledged: count });
  }
});

test("a request that dies is done if it was written, and not there otherwise", async () => {
  const { org } = await seedFindings({ ...small, furtherBlocks: 0 });
  const sent = await killedAfter(Number.POSITIVE_INFINITY, () => requestAll(org));
  await runWorkers();
  const { org: other } = await seedFindings({ ...small, furtherBlocks: 0 });
  for (let number = 0; number <= sent; number++) {
    await killedAfter(number, () => requestAll(other));
    const lock = await table.get<{ acknowledgementId: number }>(keys.acknowledgementLock(other));
    expect(lock !== undefined).toBe(number === sent);
    if (lock === undefined) continue;
    await takeMessages("acknowledgements");
    await sweepAt(keys.acknowledgementLock(other));
    await runWorkers();
    await expectDone(other, lock.acknowledgementId, { matching: 48, acknowledged: 48 });
  }
});

test("the same message twice at the same time acknowledges everything once", async () => {
  const { org } = await seedFindings({ emailCount: 60, perEmail: 6, furtherBlocks: 4 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  await Promise.all([work(message, invocation()), work(message, invocation())]);
  await work(message, invocation());
  await expectDone(org, id, { matching, acknowledged: 60 * 6 + 60 * 4 });
});
