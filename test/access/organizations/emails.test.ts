import { describe, expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as findings from "../../../shared/findings/finding.ts";
import { findings as findingRows } from "../../../shared/findings/record.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../../shared/monitoring/domains/proof.ts";
import * as emails from "../../../shared/monitoring/emails/email.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { dieAfter, onTableRequest } from "../../aws/table/request-points.ts";
import {
  createOrganization,
  readScan,
  runChecks,
  startAndPlan,
  sweepNow,
  sweepOf,
  useWorkers,
} from "../../scanning/in-process-workers.ts";

// user0 has more findings than one transaction deletes. An answer may name at most 100 breaches that HIBP
// does not list.
const breaches = Array.from({ length: 99 }, (_, index) => `Breach${index}`);
useWorkers({ breached: { "covered.example": { 0: breaches, 1: ["Alpha"] } } });

const scan = async (org: number): Promise<void> => {
  const scanId = await startAndPlan(org);
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed" });
};

describe("removing an e-mail", () => {
  const create = async () => {
    const org = await createOrganization({ "covered.example": 2 });
    await scan(org);
    const listed = (await emailList.list(org, { limit: 10, offset: 0 })).emails;
    const id = listed.find(({ email }) => email.startsWith("user0@"))?.id ?? 0;
    expect(await left(org)).toEqual({ listed: 100, counted: 100 });
    return { org, id };
  };
  const left = async (org: number) => ({
    listed: (await findings.list(org, { limit: 1, offset: 0 })).total,
    counted: findingRows.sum(await findingRows.tally(org)),
  });
  const expectRemoved = async (org: number, id: number) => {
    expect(await left(org)).toEqual({ listed: 1, counted: 1 });
    const [other] = (await findings.list(org, { limit: 10, offset: 0 })).breaches;
    expect(other).toMatchObject({ email: "user1@covered.example", breach: { name: "Alpha" } });
    expect(await table.get(keys.removal(org, id))).toBeUndefined();
  };

  test("hides it even after a crash; a sweep deletes its findings", async () => {
    const { org, id } = await create();
    dieAfter(2);
    await removals.remove(org, id, administrator);
    expect((await emailList.list(org, { limit: 10, offset: 0 })).total).toBe(1);
    const { counted } = await left(org);
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThan(100);

    await sweepNow();
    // The request may still be at work.
    expect((await left(org)).counted).toBe(counted);
    await removals.sweepRemoval(keys.removal(org, id), sweepOf(Date.now() + 61_000));
    await expectRemoved(org, id);
  });
});

describe("adding an e-mail", () => {
  test("is not added to a domain that is no longer verified", async () => {
    const org = await createOrganization({ "covered.example": 0 });
    const [domain] = await domains.list(org);
    const domainId = domain?.id ?? 0;
    onTableRequest("the log entry of an added e-mail", "before", () => setVerified(org, domainId, false));
    const added = emails.add(org, { email: "late@covered.example", domainId }, administrator);
    await expect(added).rejects.toMatchObject({ refusal: "domainNotVerified" });
    expect((await emailList.list(org, { limit: 1, offset: 0 })).total).toBe(0);
  });

  test("does not count it as checked by a scan that began earlier", async () => {
    const org = await createOrganization({ "covered.example": 1 });
    const [domain] = await domains.list(org);
    onTableRequest("the log entry of an added e-mail", "before", () => scan(org));
    const late = { email: "late@covered.example", domainId: domain?.id ?? 0 };
    // A busy machine scans for longer than people would wait.
    const id = await withTimeOf(120_000, () => emails.add(org, late, administrator));
    const listed = (await emailList.list(org, { limit: 10, offset: 0 })).emails;
    expect(listed.find((each) => each.id === id)?.lastScannedAt).toBeNull();
  });
});
