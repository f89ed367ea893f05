/** What the service does by itself, on a local service of which a day takes six seconds. */
import { setTimeout as pause } from "node:timers/promises";
import { GetScheduleCommand, ResourceNotFoundException, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { type Answer, type NameServer, startNameServer } from "../alerting/name-server.ts";
import { activity } from "../dashboard/activity.ts";
import { timestamp } from "../endpoints/reply.ts";
import { settle } from "../monitoring/hibp/settle.ts";
import { admin } from "./admin.ts";
import { type Breaches, createBreaches } from "./breaches.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { signedInTo } from "./own-signed-in.ts";
import { receivedAt } from "./receiver.ts";

const domain = "automatic.example";

type Listed = { type: string; status: string; newBreachesFound: number };

let service: LocalService;
let breaches: Breaches;
/** TXT records by name. */
const records = new Map<string, Answer>();
let nameServer: NameServer;

beforeAll(async () => {
  nameServer = await startNameServer(({ name }) => records.get(name) ?? "no such name");
  breaches = await createBreaches({ [`a@${domain}`]: ["Alpha"] }, [inventedBreach("Alpha")]);
  const others = ["--dns", nameServer.address, "--allow-origin", inject("receiverUrl")];
  service = await startOwnService([
    "--memory",
    "--speed",
    "14400",
    "--breaches",
    breaches.directory,
    ...others,
  ]);
});
afterAll(async () => {
  await service?.stop();
  await nameServer?.close();
});

// These wait for days, beside each other.
describe.concurrent("by itself", () => {
  test("scans as often as the dashboard says, and never again after never", async () => {
    const { id: org, api, domainId } = await createOrganization({}, { domain, apiUrl: service.apiUrl });
    await api.post("/emails", { email: `a@${domain}`, domainId });
    const { dashboard } = await signedInTo(service.apiUrl, org);
    expect((await dashboard.patch("/organization", { scanEvery: "day" })).status).toBe(200);
    const scheduled = async () => (await api.get("/scans?type=scheduled")).body.total as number;
    await eventually(scheduled, (total) => total > 0);
    await dashboard.patch("/organization", { scanEvery: "never" });
    expect((await dashboard.get("/organization")).body).toMatchObject({ nextScanAt: null });
    const before = await scheduled();
    await pause(13_000);
    // One may have been on its way.
    expect(await scheduled()).toBeLessThanOrEqual(before + 1);
  });

  test("verifies by a record; three days after it has gone the domain is unverified", async () => {
    const { id: org } = await createOrganization({}, { apiUrl: service.apiUrl });
    const { dashboard, v1 } = await signedInTo(service.apiUrl, org);
    const { body: added } = await dashboard.post("/domains", { name: "daily.check.example" });
    const { name, value } = added.record as { name: string; value: string };
    records.set(name, [value]);
    const isVerified = (expected: boolean) =>
      eventually(
        async () => {
          const { domains } = (await dashboard.get("/domains")).body;
          return (domains as { id: number; isVerified: boolean }[]).find(({ id }) => id === added.id);
        },
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
});

describe("automatic scans", () => {
  const prepare = async (every: string) => {
    const organization = await createOrganization(
      { "scan-every": every },
      { domain, apiUrl: service.apiUrl },
    );
    await organization.api.post("/emails", { email: `a@${domain}`, domainId: organization.domainId });
    return organization;
  };

  const completed = async (api: Client, type: string): Promise<Listed[]> =>
    ((await api.get(`/scans?type=${type}&status=completed`)).body.scans ?? []) as Listed[];

  /** Gives a function that reads the organization's schedule from the scheduler. */
  const scheduleOf = async (org: number) => {
    const { outputs } = await readLocalStack(service.apiUrl);
    const name = { GroupName: outputs.ScheduleGroupName, Name: `organization-${org}` };
    return () => new SchedulerClient().send(new GetScheduleCommand(name));
  };

  test("a new organization is scanned daily; the schedule can be changed and ended", async () => {
    const { id, api } = await prepare("day");
    // On a busy machine a day has passed before the address is added, and the first scan finds nothing.
    const scans = await eventually(
      () => completed(api, "scheduled"),
      (some) => some.some(({ newBreachesFound }) => newBreachesFound > 0),
    );
    expect(scans.reduce((sum, { newBreachesFound }) => sum + newBreachesFound, 0)).toBe(1);
    const schedule = await scheduleOf(id);
    expect(await schedule()).toMatchObject({
      ScheduleExpression: "rate(1 day)",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
    });
    expect(await admin("scan schedule", { org: id, every: "week" }, service.apiUrl)).toMatchObject({
      scanEvery: "week",
    });
    expect(await schedule()).toMatchObject({ ScheduleExpression: "rate(7 days)" });
    expect(await admin("scan schedule", { org: id, every: "never" }, service.apiUrl)).toMatchObject({
      scanEvery: "never",
    });
    await expect(schedule()).rejects.toThrow(ResourceNotFoundException);
  });

  test("a new breach in the catalog starts a catalog_triggered scan", async () => {
    const { api } = await prepare("never");
    await breaches.write({ [`a@${domain}`]: ["Alpha", "Beta"] }, [
      inventedBreach("Alpha"),
      inventedBreach("Beta"),
    ]);
    const [triggered] = await eventually(
      () => completed(api, "catalog_triggered"),
      (scans) => scans.length > 0,
    );
    expect(triggered).toMatchObject({ type: "catalog_triggered", newBreachesFound: 2 });
  });

  test("findings show the new title of a breach, and the last one of a retired breach", async () => {
    const { api } = await prepare("never");
    await api.post("/scans");
    type Shown = { breach: { name: string; title: string } };
    const titles = async () =>
      Object.fromEntries(
        ((await api.get("/breaches")).body.breaches as Shown[]).map(({ breach }) => [
          breach.name,
          breach.title,
        ]),
      );
    await eventually(titles, ({ Alpha }) => Alpha === "Alpha (invented)", 60);
    await settle(61);
    // These requests fill the cache of the function, which must not show the old titles later.
    await titles();
    await titles();
    await breaches.write({ [`a@${domain}`]: ["Alpha", "Beta"] }, [
      { ...inventedBreach("Beta"), Title: "Beta as it is called now", ModifiedDate: "2030-01-01T00:00:00Z" },
    ]);
    const shown = await eventually(titles, ({ Beta }) => Beta !== "Beta (invented)", 60);
    expect(shown).toEqual({ Alpha: "Alpha (invented)", Beta: "Beta as it is called now" });
    await settle(61);
    expect(await titles()).toEqual(shown);
  });
});
