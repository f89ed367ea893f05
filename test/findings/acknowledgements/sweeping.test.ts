/** Lost messages, workers whose time is up, and requests that cannot be finished. */
import { expect, test, vi } from "vitest";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import { end } from "../../../shared/findings/acknowledgements/end.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  newLock,
} from "../../../shared/findings/acknowledgements/record.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import * as single from "../../../shared/findings/finding.ts";
import { findings } from "../../../shared/findings/record.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { invocation, takeMessage, takeMessages, useWorkers } from "../../scanning/in-process-workers.ts";
import {
  acknowledgedBySomebody,
  expectAgreement,
  expectDone,
  requestAll,
  runWorkers,
  seedFindings,
  somebodyElse,
  sweepAt,
} from "./findings.ts";

useWorkers();

/** A worker asks for the time that is left before each batch; this one has time for two. */
const briefly = () => {
  let asked = 0;
  return { ...invocation(), remainingSeconds: () => (asked++ < 2 ? 300 : 10) };
};

/** Ends the request in progress as a sweep does that has woken workers in vain. */
const fail = async (org: number): Promise<boolean> => {
  const lock = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
  const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, lock?.acknowledgementId ?? 0));
  if (lock === undefined || row === undefined) throw new Error("No request is in progress");
  return end(org, row, lock, "failed", invocation().logger);
};

test("a message that was lost is sent again once nobody has been at work for a minute", async () => {
  const { org, findingIds } = await seedFindings({ furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  await takeMessages("acknowledgements");
  const lock = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
  const silentSince = Date.parse(lock?.dueAt ?? "");
  await sweepAt(keys.acknowledgementLock(org), silentSince + 59_000);
  expect(await takeMessages("acknowledgements")).toEqual([]);
  await sweepAt(keys.acknowledgementLock(org), silentSince + 60_000);
  expect(await takeMessages("acknowledgements")).toEqual([{ organizationId: org, acknowledgementId: id }]);
  await work({ organizationId: org, acknowledgementId: id }, invocation());
  await expectDone(org, id, { matching, acknowledged: findingIds.length });
  await sweepAt(keys.acknowledgementLock(org));
  expect(await takeMessages("acknowledgements")).toEqual([]);
});

test("a worker whose time is up saves where it is and sends itself a message", async () => {
  const { org } = await seedFindings({ emailCount: 40, perEmail: 6, furtherBlocks: 2 });
  const { id, matching } = await requestAll(org);
  let message = await takeMessage("acknowledgements");
  let workers = 0;
  for (let isRunning = true; isRunning; workers++) {
    await work(message, briefly());
    isRunning = (await acknowledgements.get(org, id)).status === "running";
    if (isRunning) message = await takeMessage("acknowledgements");
  }
  expect(workers).toBeGreaterThan(2);
  await expectDone(org, id, { matching, acknowledged: matching });
});

test("a request that was woken in vain for 80 minutes fails, with the right count", async () => {
  const { org } = await seedFindings({ emailCount: 40, perEmail: 6, furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  await work(message, briefly());
  const before = (await acknowledgements.get(org, id)).acknowledged;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(matching);
  const now = Date.now();
  for (let sweep = 1; sweep <= 15; sweep++)
    await sweepAt(keys.acknowledgementLock(org), now + sweep * 300_000);
  expect(await acknowledgements.get(org, id)).toMatchObject({ status: "running" });
  await sweepAt(keys.acknowledgementLock(org), now + 16 * 300_000);
  const ended = await acknowledgements.get(org, id);
  expect(ended).toMatchObject({ status: "failed", matching, acknowledged: before });
  expect(await acknowledgedBySomebody(org)).toHaveLength(before);
  await expectAgreement(org);
  // A late worker does nothing, and the rest can be requested again.
  await takeMessages("acknowledgements");
  await work(message, invocation());
  expect(await acknowledgedBySomebody(org)).toHaveLength(before);
  const again = await requestAll(org, { acknowledged: false });
  expect(again.matching).toBe(matching - before);
  await runWorkers();
  expect(await acknowledgements.get(org, again.id)).toMatchObject({ acknowledged: again.matching });
});

test("a request does not fail when a worker has gone on since its lock was read", async () => {
  const { org } = await seedFindings({ emailCount: 40, perEmail: 6, furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const ending = onTableRequest("the end of a bulk change", "before", () => work(message, briefly()));
  expect(await fail(org)).toBe(false);
  expect(ending.happened).toBe(true);
  const { status, acknowledged } = await acknowledgements.get(org, id);
  expect(status).toBe("running");
  expect(acknowledged).toBeGreaterThan(0);
  expect(acknowledged).toBeLessThan(matching);
  await runWorkers();
  await expectDone(org, id, { matching, acknowledged: matching });
});

test("a worker that finds nothing to change for seconds gives signs of life", async () => {
  const { org, findingIds } = await seedFindings({ emailCount: 2, perEmail: 1, furtherBlocks: 3 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  // What changes after the request stays as it is.
  for (const each of findingIds)
    await single.acknowledge(org, { id: each, resolution: "handled" }, somebodyElse);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 4_000 });
  let saved: AcknowledgementLock | undefined;
  const ending = onTableRequest("the end of a bulk change", "before", async () => {
    saved = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
  });
  await work(message, invocation());
  vi.useRealTimers();
  expect(ending.happened).toBe(true);
  expect(saved?.cursor).toBeGreaterThan(0);
  expect(Date.parse(saved?.dueAt ?? "")).toBeGreaterThan(Date.now());
  await expectDone(org, id, { matching, acknowledged: 0 });
});

test("a worker that another one has overtaken leaves the request to it", async () => {
  const { org, findingIds } = await seedFindings({ emailCount: 70, perEmail: 6, furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const overtaking = onTableRequest(findings.key(org, findingIds[120] ?? 0), "before", () =>
    work(message, briefly()),
  );
  await work(message, invocation());
  expect(overtaking.happened).toBe(true);
  expect((await acknowledgements.get(org, id)).status).toBe("running");
  await runWorkers();
  await expectDone(org, id, { matching, acknowledged: matching });
});

test("a worker that is at work when its request fails writes nothing more", async () => {
  const { org, findingIds } = await seedFindings({ emailCount: 40, perEmail: 6, furtherBlocks: 0 });
  const { id } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const transaction = onTableRequest(findings.key(org, findingIds[120] ?? 0), "before", async () => {
    expect(await fail(org)).toBe(true);
  });
  await work(message, invocation());
  expect(transaction.happened).toBe(true);
  const { status, acknowledged } = await acknowledgements.get(org, id);
  expect(status).toBe("failed");
  expect(await acknowledgedBySomebody(org)).toHaveLength(acknowledged);
  await expectAgreement(org);
});

test("a request without findings ends at once and is not logged", async () => {
  const { org } = await seedFindings({ emailCount: 2, perEmail: 0, furtherBlocks: 0 });
  const { id } = await requestAll(org);
  await runWorkers();
  await expectDone(org, id, { matching: 0, acknowledged: 0 });
});

test("the audit mends a lock and a place in the due index", async () => {
  const { org } = await seedFindings({ emailCount: 4, perEmail: 1, furtherBlocks: 0 });
  const { id } = await requestAll(org);
  await takeMessages("acknowledgements");
  const lock = keys.acknowledgementLock(org);
  const kinds = async (repair = false): Promise<string[]> => {
    const { differences } = await audit(org, { repair });
    return differences.map(({ kind, repaired }) => `${kind} ${repaired}`);
  };
  await expectAgreement(org);
  await table.update(lock, { remove: ["dueAt", "dueShard"] });
  expect(await kinds()).toEqual(["acknowledgement lock false"]);
  expect(await kinds(true)).toEqual(["acknowledgement lock true"]);
  await table.remove(lock);
  expect(await kinds(true)).toEqual(["acknowledgement true"]);
  await expectAgreement(org);
  await sweepAt(keys.acknowledgementLock(org));
  await runWorkers();
  expect((await acknowledgements.get(org, id)).status).toBe("completed");
  await table.put({ ...lock, ...newLock(org, id) });
  expect(await kinds(true)).toEqual(["acknowledgement lock true"]);
});
