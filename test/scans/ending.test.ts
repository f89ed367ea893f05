import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sweep } from "../../functions/sweep/handler.ts";
import * as configure from "../../shared/alerts/configure.ts";
import * as emails from "../../shared/emails/email.ts";
import { ownChecks } from "../../shared/emails/own-check.ts";
import * as findings from "../../shared/findings/finding.ts";
import { findings as findingRows } from "../../shared/findings/record.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as domains from "../../shared/organizations/domain.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import type { Message } from "../../shared/queue/messages.ts";
import { apply } from "../../shared/scans/apply.ts";
import { check } from "../../shared/scans/check.ts";
import { chunksLeft } from "../../shared/scans/chunks.ts";
import { end } from "../../shared/scans/end.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import { plan } from "../../shared/scans/plan.ts";
import { scans } from "../../shared/scans/record.ts";
import { start } from "../../shared/scans/scan.ts";
import { blockSize, type Reserved, reserve } from "../../shared/table/blocks.ts";
import { keys, rollupPrefix } from "../../shared/table/keys.ts";
import { parts } from "../../shared/table/parts.ts";
import { blocksPerRollup } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { activeBilling } from "../organizations/billing.ts";
import {
  createScanned,
  invocation,
  logger,
  meanwhile,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
  // Both are known as covered before anything else is asked.
  workers.breached = { "covered.example": {}, "large.example": {} };
}, 60_000);
afterAll(() => workers?.stop());
afterEach(() => {
  workers.fails = () => undefined;
});

/** What a worker has in hand for a chunk. */
const applicationOf = async ({ organizationId: org, ...chunk }: Message<"scan-chunks">) => ({
  org,
  ...chunk,
  domains: new Map((await domains.list(org)).map((domain) => [domain.id, domain])),
  logger,
});

const foundBy = async (org: number, scanId: number): Promise<number> =>
  (await findings.list(org, { limit: 1, offset: 0, scanId })).total;

const lookUps = (): number =>
  workers.upstream.requests.filter(({ path }) => path.startsWith("breachedaccount/")).length;

describe("a scan that ends before its work is done", () => {
  test("counts exactly what its workers have found; those that are late write nothing more", async () => {
    const count = 300;
    const breaches = Array.from({ length: 12 }, (_, index) => `Breach${index}`);
    workers.breached["large.example"] = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [index, breaches]),
    );
    const org = await createScanned({ "large.example": count });
    const scanId = await startPlanned(org);
    const chunks = await take("scan-chunks");
    let isAtWork = true;
    const working = Promise.all(chunks.map((chunk) => check(chunk, invocation()))).finally(() => {
      isAtWork = false;
    });
    while ((await foundBy(org, scanId)) === 0) await sleep(10);
    expect(isAtWork).toBe(true);
    await end(org, scanId, { reason: "for a test", logger });
    const ended = await scanned(org, scanId);
    const found = await foundBy(org, scanId);
    await working;
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThan(count * breaches.length);
    expect(ended).toMatchObject({
      newBreachesFound: found,
      errorMessage: expect.stringContaining("for a test"),
    });
    expect(await foundBy(org, scanId)).toBe(found);

    // Nothing of it is lost: the next scan finds the rest.
    const nextId = await startPlanned(org);
    for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
    const rest = count * breaches.length - found;
    expect(await scanned(org, nextId)).toMatchObject({ status: "completed", newBreachesFound: rest });
    expect(await foundBy(org, nextId)).toBe(rest);
  }, 60_000);

  test("counts no address as checked whose findings came too late", async () => {
    const org = await createScanned({ "late.example": 2 });
    workers.accounts["user0@late.example"] = ["Alpha"];
    const scanId = await startPlanned(org);
    const scan = await scans.get(org, scanId);
    if (scan === undefined) throw new Error("there is no scan");
    // Its end has closed what is left, and is about to count.
    for (const { batch, chunk } of chunksLeft(scan)) {
      await table.put(keys.closedChunk(org, scanId, batch, chunk));
    }
    for (const message of await take("scan-lookups")) await lookUp(message, invocation());
    await end(org, scanId, { reason: "for a test", logger });
    expect(await scanned(org, scanId)).toMatchObject({ status: "failed", scannedEmails: 0, totalEmails: 2 });
    expect(await foundBy(org, scanId)).toBe(0);
  });

  test("after a day ends however busy its workers are", async () => {
    const org = await createScanned({ "busy.example": 1 });
    const scanId = await startPlanned(org);
    await sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 900 });
    expect(await scanned(org, scanId)).toMatchObject({ status: "running" });
    const dayAgo = new Date(Date.now() - 24 * 3_600_000 - 1_000).toISOString();
    await table.update(scans.key(org, scanId), { set: { createdAt: dayAgo } });
    await sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 900 });
    expect(await scanned(org, scanId)).toMatchObject({
      status: "failed",
      errorMessage: expect.stringContaining("the scan was interrupted"),
    });
  });

  test.each(["plan-scan", "look-up-emails"])(
    "of an organization that lapses before %s: nobody is asked",
    async (by) => {
      const org = await createScanned({ [`${by}.example`]: 3 });
      const scanId = await start(org, "manual", administrator);
      const [message] = await take("scan-plans");
      if (message === undefined) throw new Error("there is no message");
      const lapse = () =>
        organizations.setBilling(org, { ...activeBilling, status: "subscription_inactive" });
      if (by === "plan-scan") await lapse();
      await plan(message, invocation());
      const before = lookUps();
      await lapse();
      for (const each of await take("scan-lookups")) await lookUp(each, invocation());
      expect(lookUps()).toBe(before);
      expect(await scanned(org, scanId)).toMatchObject({
        status: "failed",
        errorMessage:
          "None of 3 monitored emails could be scanned: the organization's subscription has lapsed",
      });
    },
  );
});

describe("e-mails of a domain that is no longer verified", () => {
  test("are not looked up any more, and the scan completes with the others", async () => {
    const org = await createScanned({ "leaves.example": 40, "stays.example": 2 });
    const scanId = await startPlanned(org);
    const before = lookUps();
    const [leaving, staying] = await domains.list(org);
    const messages = await take("scan-lookups");
    // Time for one step of 25 addresses each.
    for (const message of messages) await lookUp(message, invocation(20));
    await domains.setVerified(org, leaving?.id ?? 0, false);
    for (const message of await take("scan-lookups")) await lookUp(message, invocation());
    expect(lookUps() - before).toBeLessThan(40);
    expect(await scanned(org, scanId)).toMatchObject({
      status: "completed",
      totalEmails: lookUps() - before,
      scannedEmails: lookUps() - before,
      errorMessage: null,
    });
    expect(staying?.verified).toBe(true);
  });

  test.each(["for good", "for a moment"])(
    "get no findings from an answer that came before, nor do they read as checked: %s",
    async (howLong) => {
      workers.breached["covered.example"] = { 0: ["Alpha"], 1: ["Alpha"] };
      const org = await createScanned({ "covered.example": 3 });
      const scanId = await startPlanned(org);
      const [domain] = await domains.list(org);
      await domains.setVerified(org, domain?.id ?? 0, false);
      const chunks = await take("scan-chunks");
      for (const chunk of chunks) await apply(await applicationOf(chunk), chunk.changes);
      if (howLong === "for a moment") await domains.setVerified(org, domain?.id ?? 0, true);
      await end(org, scanId, { reason: "for a test", logger });
      expect(await foundBy(org, scanId)).toBe(0);
      const listed = await emails.list(org, { limit: 10, offset: 0 });
      expect(listed.emails.map(({ lastScannedAt }) => lastScannedAt)).toEqual([null, null, null]);

      // The next scan finds what this one did not record.
      await domains.setVerified(org, domain?.id ?? 0, true);
      const nextId = await startPlanned(org);
      for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
      expect(await scanned(org, nextId)).toMatchObject({ status: "completed", newBreachesFound: 2 });
    },
  );
});

describe("e-mails that leave a scan between its plan and their check", () => {
  test.each([
    ["their domain is unverified", "unverified"],
    ["their domain is unverified for a moment", "for a moment"],
    ["their domain is unverified, and their message was lost", "lost"],
    ["they are disabled", "disabled"],
  ])("are not counted as scanned: %s", async (_, how) => {
    workers.breached["covered.example"] = { 0: ["Alpha"], 1: ["Alpha"], 2: ["Alpha"] };
    workers.breached["large.example"] = {};
    const org = await createScanned({ "covered.example": 3, "large.example": 2 });
    const scanId = await startPlanned(org);
    let chunks = await take("scan-chunks");
    const [domain] = await domains.list(org);
    if (how === "disabled") {
      const { emails: listed } = await emails.list(org, { limit: 5, offset: 0 });
      for (const each of listed.filter((each) => each.domain.id === domain?.id)) {
        await emails.setActive(org, each.id, false, administrator);
      }
    } else await domains.setVerified(org, domain?.id ?? 0, false);
    if (how === "for a moment") await domains.setVerified(org, domain?.id ?? 0, true);
    if (how === "lost") {
      await plan({ organizationId: org, scanId, turn: 1, resume: true }, invocation());
      chunks = await take("scan-chunks");
    }
    expect(chunks).toHaveLength(1);
    for (const chunk of chunks) await check(chunk, invocation());
    expect(await scanned(org, scanId)).toMatchObject({
      status: "completed",
      scannedEmails: 2,
      totalEmails: 2,
      newBreachesFound: 0,
      errorMessage: null,
    });
    const { emails: listed } = await emails.list(org, { limit: 5, offset: 0 });
    expect(listed.filter(({ lastScannedAt }) => lastScannedAt !== null)).toHaveLength(2);
  });
});

describe("a chunk", () => {
  test("that is done takes nothing more, also from a worker with a newer answer", async () => {
    workers.breached["covered.example"] = { 0: ["Alpha"] };
    const org = await createScanned({ "covered.example": 2 });
    const scanId = await startPlanned(org);
    const [chunk] = await take("scan-chunks");
    if (chunk === undefined) throw new Error("there is no chunk");
    const application = await applicationOf(chunk);
    await check(chunk, invocation());
    expect(await scanned(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 1 });
    const [other] = (await emails.list(org, { limit: 1, offset: 0 })).emails;
    const newer = { emailId: other?.id ?? 0, found: [1], gone: [], back: [] };
    await apply(application, [newer]);
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("whose worker dies as soon as it has taken it off takes nothing more, so that what the end counts is what is listed", async () => {
    workers.breached["covered.example"] = { 0: ["Alpha"] };
    const org = await createScanned({ "covered.example": 2, "single-after.example": 1 });
    const scanId = await startPlanned(org);
    const [chunk] = await take("scan-chunks");
    if (chunk === undefined) throw new Error("there is no chunk");
    const application = await applicationOf(chunk);
    const dies = meanwhile("REMOVE #remaining", "after", async () => {
      throw new Error("the function ran out of time");
    });
    await expect(check(chunk, invocation())).rejects.toThrow("out of time");
    expect(dies.happened).toBe(true);
    for (const message of await take("scan-lookups")) await lookUp(message, invocation());
    const ended = await scanned(org, scanId);
    expect(ended).toMatchObject({ status: "completed", totalEmails: 3, newBreachesFound: 1 });
    // Another, whose message came twice, is still at it, and its answer is newer.
    const { emails: listed } = await emails.list(org, { limit: 3, offset: 0 });
    const other = listed.find(({ email }) => email === "user1@covered.example");
    const newer = { emailId: other?.id ?? 0, found: [1], gone: [], back: [] };
    await apply(application, [newer]);
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("whose worker dies just before it takes it off is taken off by the next, also by one with a newer answer", async () => {
    workers.breached["covered.example"] = { 0: ["Alpha"] };
    const org = await createScanned({ "covered.example": 2 });
    const scanId = await startPlanned(org);
    const [chunk] = await take("scan-chunks");
    if (chunk === undefined) throw new Error("there is no chunk");
    meanwhile("REMOVE #remaining", "before", async () => {
      throw new Error("the function ran out of time");
    });
    await expect(check(chunk, invocation())).rejects.toThrow("out of time");
    const [other] = (await emails.list(org, { limit: 1, offset: 0 })).emails;
    const newer = { emailId: other?.id ?? 0, found: [1], gone: [], back: [] };
    await check({ ...chunk, changes: [...chunk.changes, newer] }, invocation());
    expect(await scanned(org, scanId)).toMatchObject({
      status: "completed",
      scannedEmails: 2,
      newBreachesFound: 1,
      errorMessage: null,
    });
    expect(await foundBy(org, scanId)).toBe(1);
  });

  test("is written although its findings and its alerts begin new blocks and do not fit a transaction", async () => {
    workers.breached["covered.example"] = {
      0: Array.from({ length: 75 }, (_, index) => `Breach${index}`),
    };
    const org = await createScanned({ "covered.example": 1 });
    const channel = {
      isEnabled: true,
      notifyOnNewBreach: true,
      notifyOnScanComplete: false,
      notifyOnScanError: false,
    };
    for (let count = 0; count < 20; count++) {
      const config = { recipients: [`alerts${count}@acme.example`] };
      await configure.create(org, { ...channel, channel: "email", config }, administrator, async () => {});
    }
    const scanId = await startPlanned(org);
    const chunks = await take("scan-chunks");
    await reserve(org, "FINDING", blockSize - 30, { tag: scanId });
    await reserve(org, "DELIVERY", blockSize - 10);
    for (const chunk of chunks) await check(chunk, invocation());
    expect(await scanned(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 75 });
    await take("deliveries");
  });
});

test("a chunk that is taken off while the scan is ended early is counted, and its e-mails read as checked", async () => {
  workers.breached["covered.example"] = { 1: ["Alpha"] };
  const org = await createScanned({ "covered.example": 3 });
  await startPlanned(org);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  // A change that says nothing of when its e-mail was checked: a breach is gone.
  workers.breached["covered.example"] = {};
  const scanId = await startPlanned(org);
  const [chunk] = await take("scan-chunks");
  if (chunk === undefined) throw new Error("there is no chunk");
  await apply(await applicationOf(chunk), chunk.changes);
  // It has set the watermarks by then.
  const ending = meanwhile("#completedAt", "before", () => check(chunk, invocation()));
  await end(org, scanId, { reason: "for a test", logger });
  expect(ending.happened).toBe(true);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 3,
    totalEmails: 3,
    errorMessage: null,
  });
  const { emails: listed } = await emails.list(org, { limit: 3, offset: 0 });
  const [domain] = await domains.list(org);
  expect(listed.map(({ lastScannedAt }) => lastScannedAt)).toEqual(Array(3).fill(domain?.planAt));
  expect((await ownChecks(org)).domains).toEqual(new Set());
});

test("a batch that is saved while a scan ends is not counted twice, and its domain does not read as checked", async () => {
  const org = await createScanned({ "covered.example": 4 });
  const scanId = await start(org, "manual", administrator);
  await take("scan-plans");
  const [domain] = await domains.list(org);
  if (domain === undefined) throw new Error("there is no domain");
  // As the end sees it when the batch is saved after it has read the scan.
  const planAt = new Date().toISOString();
  await table.update(keys.domain(org, domain.id), {
    set: { planBy: scanId, planState: "checked", planBatch: domain.id, planAt },
  });
  await end(org, scanId, { reason: "for a test", logger });
  expect(await scanned(org, scanId)).toMatchObject({ status: "failed", totalEmails: 4, scannedEmails: 0 });
  expect((await domains.get(org, domain.id))?.checkedAt).toBeNull();
});

test("a scan that got the lock after a later one ended does not plan for ever", async () => {
  const org = await createScanned({ "covered.example": 1 });
  const scanId = await start(org, "manual", administrator);
  const [domain] = await domains.list(org);
  await table.update(keys.domain(org, domain?.id ?? 0), {
    set: { planBy: scanId + 1, planState: "checked" },
  });
  for (const message of await take("scan-plans")) await plan(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "failed", totalEmails: 0 });
});

test("rolls up a long directory of findings; the next scan's are counted over it", async () => {
  workers.breached["large.example"] = { 0: ["Alpha"] };
  const org = await createScanned({ "large.example": 2 });
  const [{ id: emailId, email } = { id: 0, email: "" }] = (await emails.list(org, { limit: 1, offset: 0 }))
    .emails;
  // As if scans had found them one by one.
  for (const part of parts(Array.from({ length: blocksPerRollup + 2 }), 40)) {
    const ids = await reserve(org, "FINDING", part.length * blockSize);
    const puts = part.map((_, index) => {
      const row = { emailId, email, domainId: 1, breachId: 1, firstDetectedAt: new Date().toISOString() };
      return findingRows.put(
        org,
        ids[index * blockSize] as Reserved,
        { scanId: null, acknowledged: false },
        row,
      );
    });
    await table.transact(findingRows.writes(org, puts));
  }
  const before = findingRows.sum(await findingRows.directory(org));
  const { pk } = keys.directory(org, "FINDING", 0);
  const rollups = () => table.query({ pk, prefix: rollupPrefix });

  const scanId = await startPlanned(org);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  expect(await scans.get(org, scanId)).toMatchObject({ newBreachesFound: 1 });
  // 64 blocks in one, the two others in another; the scan's finding is in a newer one.
  expect(await rollups()).toHaveLength(2);
  expect(findingRows.sum(await findingRows.directory(org))).toBe(before + 1);

  workers.breached["large.example"] = { 0: ["Alpha", "Beta"], 1: ["Beta"] };
  const nextId = await startPlanned(org);
  for (const chunk of await take("scan-chunks")) await check(chunk, invocation());
  expect(await scans.get(org, nextId)).toMatchObject({ newBreachesFound: 2 });
  expect(await foundBy(org, nextId)).toBe(2);
});
