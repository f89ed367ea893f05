/** What the service does by itself, on a local service whose day takes two seconds. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GetScheduleCommand, ResourceNotFoundException, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { type Answer, type NameServer, startNameServer } from "../alerting/name-server.ts";
import { activity } from "../dashboard/activity.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { timestamp } from "../endpoints/reply.ts";
import { admin } from "./admin.ts";
import { createChannel, inboxOf } from "./alert-channels.ts";
import { createBreaches } from "./breaches.ts";
import type { Client, Row } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { receivedAt } from "./receiver.ts";

const domain = "automatic.example";

let service: LocalService;
/** TXT records by name. */
const records = new Map<string, Answer>();
let nameServer: NameServer;

beforeAll(async () => {
  nameServer = await startNameServer(({ name }) => records.get(name) ?? "no such name");
  const breaches = await createBreaches({ [`a@${domain}`]: ["Alpha"] }, [inventedBreach("Alpha")]);
  const others = ["--dns", nameServer.address, "--allow-origin", inject("receiverUrl")];
  service = await startOwnService(["--memory", "--speed", "43200", "--breaches", breaches, ...others]);
});
afterAll(async () => {
  await service?.stop();
  await nameServer?.close();
});

/** None while the service has no time. */
const completed = async (api: Client, type: string): Promise<Row[]> =>
  ((await api.get(`/scans?type=${type}&status=completed`)).body.scans ?? []) as Row[];

// These wait for days, beside each other.
describe.concurrent("by itself", () => {
  test("scans an organization daily, or as often as asked, or never", async () => {
    const {
      id: org,
      api,
      domainId,
    } = await createOrganization({ "scan-every": "day" }, { domain, apiUrl: service.apiUrl });
    await api.post("/emails", { email: `a@${domain}`, domainId });
    // On a busy machine a day may pass before the address is added. The first scan then finds nothing.
    const scans = await eventually(
      () => completed(api, "scheduled"),
      (some) => some.some(({ newBreachesFound }) => newBreachesFound > 0),
    );
    expect(scans.reduce((sum, { newBreachesFound }) => sum + newBreachesFound, 0)).toBe(1);
    const { outputs } = await readLocalStack(service.apiUrl);
    const name = { GroupName: outputs.ScheduleGroupName, Name: `organization-${org}` };
    const schedule = () => new SchedulerClient().send(new GetScheduleCommand(name));
    expect(await schedule()).toMatchObject({
      ScheduleExpression: "rate(1 day)",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
    });
    const { dashboard } = await signedIn(org, service);
    expect((await dashboard.patch("/organization", { scanEvery: "week" })).status).toBe(200);
    expect(await schedule()).toMatchObject({ ScheduleExpression: "rate(7 days)" });
    expect(await admin("scan schedule", { org, every: "never" }, service.apiUrl)).toMatchObject({
      scanEvery: "never",
    });
    await expect(schedule()).rejects.toThrow(ResourceNotFoundException);
    expect((await dashboard.get("/organization")).body).toMatchObject({ nextScanAt: null });
  });

  test("verifies a domain by its record, and unverifies it three days later", async () => {
    const { id: org } = await createOrganization({}, { apiUrl: service.apiUrl });
    const { dashboard, v1 } = await signedIn(org, service);
    const { body: added } = await dashboard.post("/domains", { name: "daily.check.example" });
    const { name, value } = added.record as { name: string; value: string };
    records.set(name, [value]);
    const isVerified = (expected: boolean) =>
      eventually(
        async () => (await dashboard.list("/domains")).find(({ id }) => id === added.id),
        (read) => read?.isVerified === expected,
      );
    expect(await isVerified(true)).toMatchObject({ verifiedAt: timestamp, checkedAt: timestamp });
    expect(await activity(v1, "domain.verified")).toMatchObject([{ actor: { type: "system" } }]);

    const url = `${inject("receiverUrl")}/lost-domain-${org}`;
    const channel = { channel: "webhook", config: { url }, notifyOnScanError: true };
    expect((await v1.post("/alert-configs", channel)).status).toBe(201);
    records.delete(name);
    expect(await isVerified(false)).toMatchObject({ verifiedAt: null });
    expect(await activity(v1, "domain.unverified")).toMatchObject([
      { category: "monitoring", actor: { type: "system" }, summary: expect.stringContaining("three days") },
    ]);
    const [alert] = await eventually(
      () => receivedAt(url),
      (received) => received.length > 0,
    );
    expect(JSON.parse(alert?.body.toString() ?? "")).toMatchObject({
      type: "scan_error",
      data: { error: expect.stringContaining("missing for three days") },
    });
  });

  test("sends an alert again that nobody took within the first three attempts", async () => {
    const organization = await createOrganization({}, { apiUrl: service.apiUrl });
    const url = `${inboxOf(organization, "down")}?status=500`;
    const channel = await createChannel(organization.api, { channel: "webhook", config: { url } });
    await admin("channel test", { org: organization.id, channel }, service.apiUrl);
    await eventually(
      () => receivedAt(url),
      ({ length }) => length > 3,
    );
  });
});

test("a message at which a worker fails comes again soon", async () => {
  const { outputs, dataDirectory } = await readLocalStack(service.apiUrl);
  const QueueUrl = outputs.AcknowledgementsQueueUrl;
  await new SQSClient().send(new SendMessageCommand({ QueueUrl, MessageBody: '{"not": "of this queue"}' }));
  const stack = outputs.TableName?.replace(/-[^-]*$/, "");
  const readLog = () =>
    readFile(join(dataDirectory, "logs", `${stack}-acknowledge-findings.log`), "utf8").catch(() => "");
  const failed = await eventually(
    async () => (await readLog()).match(/.*"message failed".*/g) ?? [],
    ({ length }) => length >= 3,
  );
  expect(failed.slice(0, 3).map((line) => JSON.parse(line).receives)).toEqual(["1", "2", "3"]);
  expect(await readLog()).not.toContain("message could not be shown again soon");
});
