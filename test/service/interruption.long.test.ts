import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../bin/admin/connect.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as queue from "../../shared/aws/queue/queue.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { ScanLock } from "../../shared/scanning/lock.ts";
import * as scanStart from "../../shared/scanning/start.ts";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { createBreaches } from "./breaches.ts";
import { type Client, createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { listFindings, scan } from "./scan.ts";

const domain = "interrupted.example";
const addressCount = 200;
const addresses = Array.from({ length: addressCount }, (_, index) => `user${index}@${domain}`);
const accounts = Object.fromEntries(addresses.map((address) => [address, ["Alpha", "Beta"]]));

/** At this speed a sweep runs every 5 s and takes up scans that made no progress for 5 s. */
const speed = ["--speed", "60"];

let service: LocalService | undefined;
const stop = async (): Promise<void> => {
  await service?.stop();
};

const start = async (options: readonly string[]): Promise<LocalService> => {
  const breaches = await createBreaches(
    accounts,
    ["Alpha", "Beta"].map((name) => inventedBreach(name)),
  );
  service = await startOwnService([...options, ...speed, "--breaches", breaches.directory]);
  return service;
};

/** An organization that monitors all addresses. */
const createMonitoring = async (apiUrl: string) => {
  const organization = await createOrganization({}, { domain, apiUrl });
  await admin("email import", { org: organization.id, file: await writeAddresses(addresses) }, apiUrl);
  return organization;
};

type Listed = { id: number; status: string; newBreachesFound: number };
const listScans = async (api: Client): Promise<Listed[]> => (await api.get("/scans")).body.scans as Listed[];

const expectEachFindingOnce = async (api: Client): Promise<void> => {
  const found = await listFindings(api);
  const expected = addresses.flatMap((address) => [`${address} Alpha`, `${address} Beta`]);
  expect(found.sort()).toEqual(expected.sort());
};

describe("a scan", () => {
  let organization: Awaited<ReturnType<typeof createMonitoring>>;
  beforeAll(async () => {
    const { apiUrl } = await start(["--memory"]);
    organization = await createMonitoring(apiUrl);
  });
  afterAll(stop);

  /** Connects this process to the table and the queues of the service. */
  const connectToService = () =>
    connect({ port: new URL((service as LocalService).apiUrl).port, stack: undefined });

  test("whose message is lost is woken by the sweep", async () => {
    const stack = await connectToService();
    // The message goes to another queue, so that the planner never gets it.
    process.env.SCAN_PLANS_QUEUE_URL = stack.outputs.DeliveriesQueueUrl;
    await scanStart.start(organization.id, "manual", administrator);
    const [ended] = await eventually(
      () => listScans(organization.api),
      ([latest]) => latest?.status === "completed",
    );
    expect(ended?.newBreachesFound).toBe(2 * addressCount);
    await expectEachFindingOnce(organization.api);
  });

  test("whose messages are repeated finds nothing twice", async () => {
    await connectToService();
    // A new organization, so that there is something to find.
    const organization = await createMonitoring((service as LocalService).apiUrl);
    const started = await organization.api.post("/scans");
    const scanId = started.body.scanJobId as number;
    for (let count = 0; count < 15; count++) {
      const lock = await table.get<ScanLock>(keys.scanLock(organization.id));
      // The first copy takes over from the planner, and the second one is a repetition.
      const message = { organizationId: organization.id, scanId, fencingToken: lock?.fencingToken ?? 0 };
      for (let copy = 0; copy < 2; copy++) await queue.send("scan-plans", message);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const [ended] = await eventually(
      () => listScans(organization.api),
      ([latest]) => latest?.status === "completed",
    );
    expect(ended).toMatchObject({ newBreachesFound: 2 * addressCount });
    await expectEachFindingOnce(organization.api);
    expect(await scan(organization.api)).toMatchObject({ totalEmails: addressCount, newBreachesFound: 0 });
  });

  test("that cannot be queued is 500, ends as failed and does not block the next one", async () => {
    const { outputs } = await connectToService();
    const sqs = new SQSClient();
    await sqs.send(new DeleteQueueCommand({ QueueUrl: outputs.ScanPlansQueueUrl }));
    for (let count = 0; count < 2; count++) {
      expect(await organization.api.post("/scans")).toMatchObject({
        status: 500,
        body: { error: expect.stringContaining("queue") },
      });
    }
    const [latest, before] = await listScans(organization.api);
    for (const failed of [latest, before]) {
      expect(failed).toMatchObject({ status: "failed", errorMessage: "The scan could not be queued" });
    }
  });
});

describe("an interrupted scan", () => {
  afterEach(stop);

  test("goes on after the service was killed, and finds everything exactly once", async () => {
    const data = await mkdtemp(join(tmpdir(), "killed-"));
    await start(["--data", data]);
    for (const milliseconds of [150, 700]) {
      const running = service as LocalService;
      const organization = await createMonitoring(running.apiUrl);
      expect((await organization.api.post("/scans")).status).toBe(201);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      running.process.kill("SIGKILL");
      await once(running.process, "exit");

      const { apiUrl } = await start(["--data", data]);
      const api = createClient({ authorization: `Bearer ${organization.key}` }, apiUrl);
      const [ended] = await eventually(
        () => listScans(api),
        ([latest]) => latest?.status === "completed" || latest?.status === "failed",
      );
      expect(ended?.status).toBe("completed");
      await expectEachFindingOnce(api);
      expect(ended?.newBreachesFound).toBe(2 * addressCount);
      expect(await scan(api)).toMatchObject({ status: "completed", newBreachesFound: 0 });
      await expectEachFindingOnce(api);
    }
  }, 240_000);
});
