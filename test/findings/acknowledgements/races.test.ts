/** Others at work on the same findings and e-mails, at the worst moment and at any moment. */
import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as single from "../../../shared/findings/finding.ts";
import { findings } from "../../../shared/findings/record.ts";
import { reserve } from "../../../shared/lists/blocks.ts";
import { emails, exposureOf, openCount } from "../../../shared/monitoring/emails/record.ts";
import { begin, resume } from "../../../shared/operations/deletion.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { invocation, sweepOf, takeMessage, useWorkers } from "../../scanning/in-process-workers.ts";
import {
  acknowledgedBySomebody,
  addFindings,
  expectDone,
  readFindings,
  requestAll,
  runWorkers,
  seedFindings,
  somebodyElse,
} from "./findings.ts";

useWorkers();

const acknowledgeAlone = (org: number, id: number): Promise<void> =>
  single.acknowledge(org, { id, resolution: "handled", reason: "Alone" }, somebodyElse);

test("findings that others acknowledge just before their transaction stay so", async () => {
  const { org, findingIds } = await seedFindings();
  const [, second = 0, third = 0] = findingIds;
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const transaction = onTableRequest(findings.key(org, second), "before", async () => {
    await Promise.all([acknowledgeAlone(org, second), acknowledgeAlone(org, third)]);
  });
  await work(message, invocation());
  expect(transaction.happened).toBe(true);
  await expectDone(org, id, { matching, acknowledged: matching - 2 });
  const kept = (await readFindings(org)).filter(({ acknowledgment }) => acknowledgment?.reason === "Alone");
  expect(kept.map((row) => row.id)).toEqual([second, third]);
});

test("one acknowledged anew just before its transaction keeps the newer one", async () => {
  const { org, findingIds } = await seedFindings({ furtherBlocks: 0 });
  const [, second = 0] = findingIds;
  await acknowledgeAlone(org, second);
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const transaction = onTableRequest(findings.key(org, second), "before", () =>
    acknowledgeAlone(org, second),
  );
  await work(message, invocation());
  expect(transaction.happened).toBe(true);
  await expectDone(org, id, { matching, acknowledged: matching - 1 });
});

test("an e-mail that is removed meanwhile takes its findings with it", async () => {
  const { org, emailIds, findingIds } = await seedFindings({ furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  // The second e-mail has the fifth finding.
  const transaction = onTableRequest(findings.key(org, findingIds[5] ?? 0), "before", () =>
    removals.remove(org, emailIds[1] ?? 0, administrator),
  );
  await work(message, invocation());
  expect(transaction.happened).toBe(true);
  const left = (await readFindings(org)).length;
  expect(left).toBe(matching - 4);
  await expectDone(org, id, { matching, acknowledged: left });
});

test("findings of an e-mail whose removal is not finished are left to the removal", async () => {
  const { org, emailIds } = await seedFindings({ emailCount: 4, perEmail: 120, furtherBlocks: 0 });
  const { id, matching } = await requestAll(org);
  // The removal dies after its first transaction, which deletes the e-mail.
  const died = new Error("died");
  onTableRequest("the removal of an e-mail", "after", () => Promise.reject(died));
  await expect(removals.remove(org, emailIds[2] ?? 0, administrator)).rejects.toThrow(died);
  await runWorkers();
  expect(await acknowledgements.get(org, id)).toMatchObject({ matching, acknowledged: matching - 120 });
  await removals.sweepRemoval(keys.removal(org, emailIds[2] ?? 0), sweepOf());
  await expectDone(org, id, { matching, acknowledged: matching - 120 });
});

test("others at work at any moment leave every count right", async () => {
  const { org, emailIds, findingIds } = await seedFindings({ emailCount: 30, perEmail: 6, furtherBlocks: 2 });
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  const everyNth = <T>(all: readonly T[], nth: number): T[] => all.filter((_, index) => index % nth === 3);
  const removed = everyNth(emailIds, 10);
  const others = async (): Promise<void> => {
    for (const finding of everyNth(findingIds, 13)) {
      await withTimeOf(60_000, () => acknowledgeAlone(org, finding)).catch((error: Error) => {
        // Its e-mail may have been removed.
        expect(error.message).toMatch(/No breach finding/);
      });
    }
  };
  const removals_ = async (): Promise<void> => {
    for (const emailId of removed) await removals.remove(org, emailId, administrator);
  };
  const newOnes = async (): Promise<void> => {
    await table.put({ ...keys.scanLock(org), scanId: 1_000 });
    for (const emailId of emailIds.filter((each) => !removed.includes(each)).slice(0, 20)) {
      const ids = await reserve(org, "FINDING", 1);
      await addFindings(org, [{ emailId, breachId: 500, scanId: 1_000 }], ids);
    }
    await table.remove(keys.scanLock(org));
  };
  await Promise.all([work(message, invocation()), others(), removals_(), newOnes()]);
  await work(message, invocation());
  const rows = await readFindings(org);
  const added = rows.filter(({ breachId }) => breachId === 500);
  expect(added).toHaveLength(20);
  expect(added.filter(({ acknowledgment }) => acknowledgment !== undefined)).toEqual([]);
  const untouched = rows.filter((row) => row.breachId !== 500 && row.acknowledgment === undefined);
  expect(untouched).toEqual([]);
  const ended = await acknowledgements.get(org, id);
  expect(ended.status).toBe("completed");
  expect(ended.acknowledged).toBeLessThanOrEqual(matching);
  expect(ended.acknowledged).toBeGreaterThanOrEqual((await acknowledgedBySomebody(org)).length);
  // The scan of the new findings is not there.
  for (const emailId of emailIds) {
    const email = await emails.get(org, emailId);
    if (email === undefined) continue;
    expect(openCount(email)).toBe(email.findings[500] === undefined ? 0 : 1);
    expect(emails.groupOf(email).exposure).toBe(exposureOf(email));
  }
});

test("of requests at the same instant one is accepted, and another after its end", async () => {
  const { org, findingIds } = await seedFindings({ furtherBlocks: 0 });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => requestAll(org)));
  const accepted = results.filter(({ status }) => status === "fulfilled");
  expect(accepted).toHaveLength(1);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason.refusal).toBe("acknowledgementInProgress");
  }
  await runWorkers();
  const { id, matching } = await requestAll(org, { acknowledged: true });
  expect(matching).toBe(findingIds.length);
  await runWorkers();
  expect(await acknowledgements.get(org, id)).toMatchObject({ acknowledged: matching });
});

test("the deletion of the organization stops the worker and deletes its rows", async () => {
  const { org } = await seedFindings();
  const { id, matching } = await requestAll(org);
  const message = await takeMessage("acknowledgements");
  await begin(org);
  await work(message, invocation());
  expect(await acknowledgedBySomebody(org)).toEqual([]);
  expect(await table.get(keys.acknowledgementLock(org))).toBeUndefined();
  expect(await acknowledgements.get(org, id)).toMatchObject({ status: "running", matching, acknowledged: 0 });
  // The first only notes the time.
  for (let sweep = 0; sweep < 2; sweep++) await resume(keys.organization(org), 0, () => true);
  expect(await table.get(keys.organization(org))).toBeUndefined();
  expect(await table.query({ pk: keys.acknowledgement(org, 0).pk })).toEqual([]);
});

test("a request that is written just after the deletion began does not outlive it", async () => {
  const { org } = await seedFindings({ furtherBlocks: 0 });
  await begin(org);
  const { id } = await requestAll(org);
  await runWorkers();
  expect(await acknowledgedBySomebody(org)).toEqual([]);
  // The time is noted; the lock is found and removed, and the time noted anew; everything is deleted.
  for (let sweep = 0; sweep < 3; sweep++) await resume(keys.organization(org), 0, () => true);
  for (const key of [keys.organization(org), keys.acknowledgement(org, id), keys.acknowledgementLock(org)]) {
    expect(await table.get(key)).toBeUndefined();
  }
});
