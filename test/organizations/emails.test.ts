import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sweep } from "../../functions/sweep/handler.ts";
import * as emails from "../../shared/emails/email.ts";
import * as findings from "../../shared/findings/finding.ts";
import { findings as findingRows } from "../../shared/findings/record.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as domains from "../../shared/organizations/domain.ts";
import { check } from "../../shared/scans/check.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import {
  createScanned,
  invocation,
  meanwhile,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "../scans/workers.ts";

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
  // user0 has more findings than three transactions delete.
  const breaches = Array.from({ length: 140 }, (_, index) => `Breach${index}`);
  workers.breached = { "covered.example": { 0: breaches, 1: ["Alpha"] } };
}, 60_000);
afterAll(() => workers?.stop());

const scan = async (org: number): Promise<void> => {
  const scanId = await startPlanned(org);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed" });
};

describe("an e-mail with many findings that is removed", () => {
  const create = async () => {
    const org = await createScanned({ "covered.example": 2 });
    await scan(org);
    const listed = (await emails.list(org, { limit: 10, offset: 0 })).emails;
    const id = listed.find(({ email }) => email.startsWith("user0@"))?.id ?? 0;
    expect(await left(org)).toEqual({ listed: 141, counted: 141 });
    return { org, id };
  };
  const left = async (org: number) => ({
    listed: (await findings.list(org, { limit: 1, offset: 0 })).total,
    counted: findingRows.sum(await findingRows.directory(org)),
  });
  const expectRemoved = async (org: number, id: number) => {
    expect(await left(org)).toEqual({ listed: 1, counted: 1 });
    const [other] = (await findings.list(org, { limit: 10, offset: 0 })).breaches;
    expect(other).toMatchObject({ email: "user1@covered.example", breach: { name: "Alpha" } });
    expect(await table.get(keys.removal(org, id))).toBeUndefined();
  };

  test("takes all of them along, and nobody else's", async () => {
    const { org, id } = await create();
    await emails.remove(org, id, administrator);
    await expectRemoved(org, id);
  });

  test.each([1, 2, 3])(
    "is gone at once although it is cut off after transaction %d, and a sweep goes on",
    async (count) => {
      const { org, id } = await create();
      const die = async () => {
        throw new Error("The function died");
      };
      /** Dies when this many more have got through. */
      const dieAfter = (more: number): void => {
        meanwhile("TransactItems", "before", async () => (more === 0 ? die() : dieAfter(more - 1)));
      };
      dieAfter(count);
      await expect(emails.remove(org, id, administrator)).rejects.toThrow("The function died");
      expect((await emails.list(org, { limit: 10, offset: 0 })).total).toBe(1);
      expect((await left(org)).counted).toBe(141 - count * 45);

      const settings = { silenceSeconds: 60, deletionSeconds: 900 };
      await sweep(invocation(), settings);
      // Whoever removed it may still be at work.
      expect((await left(org)).counted).toBe(141 - count * 45);
      await table.update(keys.removal(org, id), { set: { dueAt: new Date().toISOString() } });
      await sweep(invocation(), settings);
      await expectRemoved(org, id);
    },
  );
});

describe("an e-mail whose domain changes while it is added", () => {
  const adding = "email.added";

  test("is not added to a domain that is no longer verified", async () => {
    const org = await createScanned({ "covered.example": 0 });
    const [domain] = await domains.list(org);
    const domainId = domain?.id ?? 0;
    meanwhile(adding, "before", () => domains.setVerified(org, domainId, false));
    const added = emails.add(org, { email: "late@covered.example", domainId }, administrator);
    await expect(added).rejects.toMatchObject({ refusal: "domainNotVerified" });
    expect((await emails.list(org, { limit: 1, offset: 0 })).total).toBe(0);
  });

  test("does not read as checked by a scan that asked before it was there", async () => {
    const org = await createScanned({ "covered.example": 1 });
    const [domain] = await domains.list(org);
    meanwhile(adding, "before", () => scan(org));
    const late = { email: "late@covered.example", domainId: domain?.id ?? 0 };
    const id = await emails.add(org, late, administrator);
    const listed = (await emails.list(org, { limit: 10, offset: 0 })).emails;
    expect(listed.find((each) => each.id === id)?.lastScannedAt).toBeNull();
  });
});
