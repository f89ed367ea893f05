/** Kills the worker between any two of its requests to the table, before and after each of them. */
import { describe, expect, test } from "vitest";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { sweepAcknowledgement } from "../../../shared/findings/acknowledgements/sweep.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import { invocation, takeMessages, useWorkers } from "../../scanning/in-process-workers.ts";
import { expectDone, requestAll, runWorkers, seedFindings } from "./findings.ts";
import { killedAt } from "./killed.ts";

useWorkers();

/** A sweep long after the last sign of life of a worker. */
const sweepLater = (org: number): Promise<void> =>
  sweepAcknowledgement(keys.acknowledgementLock(org), new Date(Date.now() + 600_000), invocation(), {
    silenceSeconds: 60,
  });

const small = { emailCount: 24, perEmail: 4, furtherBlocks: 2 };
const count = 24 * 4 + 24 * 2;

describe.each(["before", "after"] as const)("a worker that dies %s one of its requests", (when) => {
  test("is followed by one that finishes: everything once, whichever request it was", async () => {
    const { org: whole } = await seedFindings(small);
    await requestAll(whole);
    const [message] = await takeMessages("acknowledgements");
    if (message === undefined) throw new Error("No message was sent");
    const requests = await killedAt(Number.POSITIVE_INFINITY, when, () => work(message, invocation()));
    expect(requests).toBeGreaterThan(10);

    for (let number = 1; number <= requests; number++) {
      const { org } = await seedFindings(small);
      const { id, matching } = await requestAll(org);
      const [first] = await takeMessages("acknowledgements");
      if (first === undefined) throw new Error("No message was sent");
      await killedAt(number, when, () => work(first, invocation()));
      // Nothing is left of the message: only the table knows.
      await sweepLater(org);
      await runWorkers();
      await expectDone(org, id, { matching, acknowledged: count });
    }
  }, 300_000);
});

test("a worker that dies twenty times on its way loses and repeats nothing", async () => {
  const { org } = await seedFindings({ emailCount: 60, perEmail: 6, furtherBlocks: 4 });
  const { id, matching } = await requestAll(org);
  const [message] = await takeMessages("acknowledgements");
  if (message === undefined) throw new Error("No message was sent");
  for (let death = 0; death < 20; death++) {
    await killedAt(8 + (death % 5), death % 2 === 0 ? "before" : "after", () => work(message, invocation()));
  }
  await sweepLater(org);
  await runWorkers();
  await expectDone(org, id, { matching, acknowledged: 60 * 6 + 60 * 4 });
});

test("a request that dies is done if it was written, and not there otherwise", async () => {
  const { org } = await seedFindings({ ...small, furtherBlocks: 0 });
  for (const when of ["before", "after"] as const) {
    const sent = await killedAt(Number.POSITIVE_INFINITY, when, () => requestAll(org));
    await runWorkers();
    const { org: other } = await seedFindings({ ...small, furtherBlocks: 0 });
    for (let number = 1; number <= sent; number++) {
      await killedAt(number, when, () => requestAll(other));
      const lock = await table.get<{ acknowledgementId: number }>(keys.acknowledgementLock(other));
      expect(lock !== undefined).toBe(when === "after" && number === sent);
      if (lock === undefined) continue;
      await takeMessages("acknowledgements");
      await sweepLater(other);
      await runWorkers();
      await expectDone(other, lock.acknowledgementId, { matching: 96, acknowledged: 96 });
    }
  }
});

test("the same message twice at the same time acknowledges everything once", async () => {
  const { org } = await seedFindings({ emailCount: 60, perEmail: 6, furtherBlocks: 4 });
  const { id, matching } = await requestAll(org);
  const [message] = await takeMessages("acknowledgements");
  if (message === undefined) throw new Error("No message was sent");
  await Promise.all([work(message, invocation()), work(message, invocation())]);
  await work(message, invocation());
  await expectDone(org, id, { matching, acknowledged: 60 * 6 + 60 * 4 });
});
