import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../bin/admin/connect.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as queue from "../../shared/queue/queue.ts";
import type { ScanLock } from "../../shared/scans/record.ts";
import * as scans from "../../shared/scans/scan.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { startAnother } from "./another.ts";
import { createBreaches, inventedBreach } from "./breaches.ts";
import { admin, type Client, createClient, createOrganization, eventually, scan } from "./client.ts";
import type { LocalService } from "./run.ts";

const domain = "interrupted.example";
const addressCount = 200;
const addresses = Array.from({ length: addressCount }, (_, index) => `user${index}@${domain}`);
const accounts = Object.fromEntries(addresses.map((address) => [address, ["Alpha", "Beta"]]));

/** Sweeps come every 5 s and look after scans that were silent for 5 s. */
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
  service = await startAnother([...options, ...speed, "--breaches", breaches.directory]);
  return service;
};

const prepare = async (apiUrl: string) => {
  const organization = await createOrganization({}, { domain, apiUrl });
  const file = join(await mkdtemp(join(tmpdir(), "addresses-")), "addresses.txt");
  await writeFile(file, addresses.join("\n"));
  await admin("email import", { org: organization.id, file }, apiUrl);
  return organization;
};

type Listed = { id: number; status: string; newBreachesFound: number };
const listScans = async (api: Client): Promise<Listed[]> => (await api.get("/scans")).body.scans as Listed[];

/** Every finding, as "address breach". */
const listFindings = async (api: Client): Promise<string[]> => {
  const all: string[] = [];
  for (;;) {
    const { body } = await api.get(`/breaches?limit=100&offset=${all.length}`);
    const page = body.breaches as { email: string; breach: { name: string } }[];
    all.push(...page.map(({ email, breach }) => `${email} ${breach.name}`));
    if (page.length < 100) {
      expect(body.total).toBe(all.length);
      return all;
    }
  }
};

const expectEachFindingOnce = async (api: Client): Promise<void> => {
  const found = await listFindings(api);
  const expected = addresses.flatMap((address) => [`${address} Alpha`, `${address} Beta`]);
  expect(found.sort()).toEqual(expected.sort());
};

describe("a scan", () => {
  let organization: Awaited<ReturnType<typeof prepare>>;
  beforeAll(async () => {
    const { apiUrl } = await start(["--memory"]);
    organization = await prepare(apiUrl);
  }, 60_000);
  afterAll(stop);

  /** Makes this process one that can write and send as the service does. */
  const takePart = () => connect({ port: new URL((service as LocalService).apiUrl).port, stack: undefined });

  test("whose message is lost is woken by the sweep", async () => {
    const stack = await takePart();
    // The planner never hears of it.
    process.env.SCAN_PLANS_QUEUE_URL = stack.outputs.DeliveriesQueueUrl;
    await scans.start(organization.id, "manual", administrator);
    const [ended] = await eventually(
      () => listScans(organization.api),
      ([latest]) => latest?.status === "completed",
      60,
    );
    expect(ended?.newBreachesFound).toBe(2 * addressCount);
    await expectEachFindingOnce(organization.api);
  }, 120_000);

  test("whose messages are repeated finds nothing twice", async () => {
    await takePart();
    // Another one of the same addresses, so that there is something to find.
    const organization = await prepare((service as LocalService).apiUrl);
    const started = await organization.api.post("/scans");
    const scanId = started.body.scanJobId as number;
    for (let count = 0; count < 15; count++) {
      const lock = await table.get<ScanLock>(keys.scanLock(organization.id));
      // One that takes over, and then one that comes twice.
      const message = { organizationId: organization.id, scanId, turn: lock?.planTurn ?? 0 };
      for (let copy = 0; copy < 2; copy++) {
        await queue.send("scan-plans", { ...message, resume: count % 2 === 0 });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const [ended] = await eventually(
      () => listScans(organization.api),
      ([latest]) => latest?.status === "completed",
      60,
    );
    expect(ended).toMatchObject({ newBreachesFound: 2 * addressCount });
    await expectEachFindingOnce(organization.api);
    expect(await scan(organization.api)).toMatchObject({ totalEmails: addressCount, newBreachesFound: 0 });
  }, 120_000);

  test("that cannot be queued is 500 {error}; it has failed, and does not stand in the way of the next", async () => {
    const { outputs } = await takePart();
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
  }, 60_000);
});

describe("an interrupted scan", () => {
  afterEach(stop);

  test("goes on after the service was killed 150 or 700 ms into it; the next one works; no finding is doubled or missing", async () => {
    const data = await mkdtemp(join(tmpdir(), "killed-"));
    await start(["--data", data]);
    for (const milliseconds of [150, 700]) {
      const running = service as LocalService;
      const organization = await prepare(running.apiUrl);
      expect((await organization.api.post("/scans")).status).toBe(201);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      running.process.kill("SIGKILL");
      await once(running.process, "exit");

      const { apiUrl } = await start(["--data", data]);
      const api = createClient({ authorization: `Bearer ${organization.key}` }, apiUrl);
      const [ended] = await eventually(
        () => listScans(api),
        ([latest]) => latest?.status === "completed" || latest?.status === "failed",
        60,
      );
      expect(ended?.status).toBe("completed");
      await expectEachFindingOnce(api);
      expect(ended?.newBreachesFound).toBe(2 * addressCount);
      expect(await scan(api)).toMatchObject({ status: "completed", newBreachesFound: 0 });
      await expectEachFindingOnce(api);
    }
  }, 240_000);
});
