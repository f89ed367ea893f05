import { GetScheduleCommand, ResourceNotFoundException, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { settle } from "../monitoring/hibp/settle.ts";
import { admin } from "./admin.ts";
import { type Breaches, createBreaches } from "./breaches.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";

const domain = "automatic.example";

type Listed = { type: string; status: string; newBreachesFound: number };

/** At this speed a day takes six seconds. */
describe("automatic scans", () => {
  let service: LocalService;
  let breaches: Breaches;

  beforeAll(async () => {
    breaches = await createBreaches({ [`a@${domain}`]: ["Alpha"] }, [inventedBreach("Alpha")]);
    service = await startOwnService(["--memory", "--speed", "14400", "--breaches", breaches.directory]);
  });

  afterAll(async () => {
    await service?.stop();
  });

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
