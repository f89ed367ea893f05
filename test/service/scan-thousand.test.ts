import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scans } from "../../shared/scans/record.ts";
import { startDynoxide } from "../table/engine.ts";
import { startAnother } from "./another.ts";
import { type Breaches, createBreaches, inventedBreach } from "./breaches.ts";
import { admin, createOrganization, eventually, type Organization, scan } from "./client.ts";
import { type Meter, startMeter } from "./meter.ts";
import type { LocalService } from "./run.ts";

const addressCount = 1000;
const findingCount = 300;
const domain = "thousand.example";
const catalog = ["Alpha", "Beta", "Gamma"].map((name) => inventedBreach(name));

/** Every fifth address is in one breach, every tenth in two: 200 + 100 findings. */
const accounts = (): Record<string, string[]> =>
  Object.fromEntries(
    Array.from({ length: addressCount }, (_, index): [string, string[]] => [
      `user${index}@${domain}`,
      index % 5 !== 0 ? [] : index % 10 === 0 ? ["Alpha", "Beta"] : ["Gamma"],
    ]).filter(([, names]) => names.length > 0),
  );

describe("a scan of 1,000 addresses with 300 findings", () => {
  let engine: Awaited<ReturnType<typeof startDynoxide>>;
  let meter: Meter;
  let service: LocalService;
  let breaches: Breaches;
  let organization: Organization;
  let first: Record<string, unknown>;
  let firstUnits: ReturnType<Meter["take"]>;

  beforeAll(async () => {
    breaches = await createBreaches(accounts(), catalog);
    engine = await startDynoxide();
    meter = await startMeter(engine.url);
    service = await startAnother(["--memory", "--breaches", breaches.directory], {
      AWS_ENDPOINT_URL_DYNAMODB: meter.url,
    });
    const { apiUrl } = service;
    organization = await createOrganization({}, { domain, apiUrl });
    const file = join(breaches.directory, "addresses.txt");
    const addresses = Array.from({ length: addressCount }, (_, index) => `user${index}@${domain}`);
    await writeFile(file, addresses.join("\n"));
    const added = await admin("email import", { org: organization.id, file }, apiUrl);
    expect(added).toMatchObject({ added: addressCount, skipped: 0, invalid: 0 });
    meter.take();
    first = await scan(organization.api);
    firstUnits = meter.take();
    console.log("first scan of 1,000 addresses, 300 findings:", JSON.stringify(firstUnits));
  }, 180_000);

  afterAll(async () => {
    await service?.stop();
    await meter?.close();
    engine?.process.kill();
  });

  const total = async (path: string): Promise<number> =>
    (await organization.api.get(`${path}${path.includes("?") ? "&" : "?"}limit=1`)).body.total as number;

  test("it completes with every address checked and every finding counted and itemized", () => {
    expect(first).toMatchObject({
      status: "completed",
      totalEmails: addressCount,
      scannedEmails: addressCount,
      newBreachesFound: findingCount,
      findingsItemized: true,
      errorMessage: null,
    });
  });

  // 298 and 1,101 units, and what other paces of its workers make of them.
  test("it costs no more units than it did", () => {
    expect(firstUnits.readUnits).toBeLessThanOrEqual(330);
    expect(firstUnits.writeUnits).toBeLessThanOrEqual(1_150);
  });

  test("the findings are listed in all, by scan and by acknowledgment with exact totals", async () => {
    expect(await total("/breaches")).toBe(findingCount);
    expect(await total(`/breaches?scanId=${first.id}`)).toBe(findingCount);
    expect(await total(`/breaches?scanId=${Number(first.id) + 1}`)).toBe(0);
    expect(await total("/breaches?acknowledged=false")).toBe(findingCount);
    expect(await total("/breaches?acknowledged=true")).toBe(0);
  });

  test("every page taken together holds each finding once, newest first", async () => {
    const ids: number[] = [];
    for (let offset = 0; offset < findingCount; offset += 100) {
      const { body } = await organization.api.get(`/breaches?limit=100&offset=${offset}`);
      ids.push(...(body.breaches as { id: number }[]).map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(findingCount);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });

  test("breachCount and lastScannedAt of every email are those of the check", async () => {
    const held = accounts();
    let sum = 0;
    for (let offset = 0; offset < addressCount; offset += 100) {
      const { body } = await organization.api.get(`/emails?limit=100&offset=${offset}`);
      for (const email of body.emails as Record<string, unknown>[]) {
        const expected = held[email.email as string]?.length ?? 0;
        expect(email).toMatchObject({ breachCount: expected, unacknowledgedBreachCount: expected });
        expect(email.lastScannedAt).not.toBeNull();
        sum += expected;
      }
    }
    expect(sum).toBe(findingCount);
  });

  test("a second scan writes no finding, and takes at most 50 write and 80 read units in all", async () => {
    meter.take();
    const started = await organization.api.post("/scans");
    const id = started.body.scanJobId as number;
    // Not by the API, whose authorizer writes.
    await eventually(
      () => scans.get(organization.id, id),
      (row) => row !== undefined && scans.facetOf(row).status === "completed",
    );
    const units = meter.take();
    console.log("second scan, nothing new:", JSON.stringify(units));
    const { body } = await organization.api.get("/scans?limit=1");
    expect((body.scans as unknown[])[0]).toMatchObject({
      id,
      status: "completed",
      totalEmails: addressCount,
      scannedEmails: addressCount,
      newBreachesFound: 0,
    });
    expect(units.writeUnits).toBeLessThanOrEqual(50);
    expect(units.readUnits).toBeLessThanOrEqual(80);
    expect(await total("/breaches")).toBe(findingCount);
  });

  test("a third scan finds what is new upstream, and only that", async () => {
    await breaches.write({ ...accounts(), [`user1@${domain}`]: ["Alpha"] }, catalog);
    const third = await scan(organization.api);
    expect(third).toMatchObject({ status: "completed", newBreachesFound: 1 });
    const { body } = await organization.api.get(`/breaches?scanId=${third.id}`);
    expect(body).toMatchObject({ total: 1, breaches: [{ email: `user1@${domain}` }] });
  });
});
