import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scheduledWorkers } from "../../functions/workers.ts";
import { type Engine, startEngine } from "../../local/dynamodb/engine.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { type Meter, startMeter } from "../../local/harness/meter.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { scans } from "../../shared/scanning/record.ts";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { createBreaches } from "./breaches.ts";
import type { Row } from "./client.ts";
import { eventually } from "./eventually.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";

const addressCount = 1000;
const findingCount = 300;
const domain = "thousand.example";
const catalog = ["Alpha", "Beta", "Gamma"].map((name) => inventedBreach(name));

/** Every tenth address appears in two breaches, every other fifth in one: 200 + 100 findings. */
const accounts = Object.fromEntries(
  Array.from({ length: addressCount }, (_, index): [string, string[]] => [
    `user${index}@${domain}`,
    index % 5 !== 0 ? [] : index % 10 === 0 ? ["Alpha", "Beta"] : ["Gamma"],
  ]),
);

describe("a scan of 1,000 addresses", () => {
  let engine: Engine;
  let meter: Meter;
  let service: LocalService;
  let organization: Organization;
  let first: Row;
  let firstUnits: ReturnType<Meter["take"]>;

  beforeAll(async () => {
    const breaches = await createBreaches(accounts, catalog);
    engine = await startEngine(undefined);
    // Schedules go on beside the scan, more of them the longer it takes.
    meter = await startMeter(engine.endpoint, {
      isBackground: (caller) => scheduledWorkers.some(({ name }) => caller.endsWith(`-${name}`)),
    });
    service = await startOwnService(["--memory", "--breaches", breaches], {
      AWS_ENDPOINT_URL_DYNAMODB: meter.url,
    });
    const { apiUrl } = service;
    organization = await createOrganization({}, { domain, apiUrl });
    const file = await writeAddresses(Object.keys(accounts));
    const added = await admin("email import", { org: organization.id, file }, apiUrl);
    expect(added).toMatchObject({ added: addressCount, skipped: 0, invalid: 0 });
    firstUnits = await unitsOfScan();
    first = await latestScan();
  });

  afterAll(async () => {
    await service?.stop();
    await meter?.close();
    await engine?.close();
  });

  /** The API takes no part in waiting for the end, because its functions read and write too. */
  const unitsOfScan = async () => {
    meter.take();
    const started = await organization.api.post("/scans");
    const id = started.body.scanJobId as number;
    await eventually(
      () => scans.get(organization.id, id),
      (row) => row !== undefined && scans.groupOf(row).status === "completed",
    );
    return meter.take();
  };

  const latestScan = async (): Promise<Row> => (await organization.api.list("/scans?limit=1"))[0];

  // Measured: 306 read and 1,454 write units, with the outbox; the pace of the workers changes them a little.
  test("finds everything within its read and write units", () => {
    expect(first).toMatchObject({
      status: "completed",
      totalEmails: addressCount,
      scannedEmails: addressCount,
      newBreachesFound: findingCount,
      findingsItemized: true,
      errorMessage: null,
    });
    expect(firstUnits.readUnits).toBeLessThanOrEqual(320);
    expect(firstUnits.writeUnits).toBeLessThanOrEqual(1_480);
  });

  test("again writes no finding: 56 write and 90 read units", async () => {
    const units = await unitsOfScan();
    expect(await latestScan()).toMatchObject({
      status: "completed",
      totalEmails: addressCount,
      scannedEmails: addressCount,
      newBreachesFound: 0,
    });
    expect(units.writeUnits).toBeLessThanOrEqual(56);
    expect(units.readUnits).toBeLessThanOrEqual(90);
    expect((await organization.api.get("/breaches?limit=1")).body.total).toBe(findingCount);
  });
});
