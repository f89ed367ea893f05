import { GetScheduleCommand, ResourceNotFoundException, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScheduleOutputs } from "../../shared/organizations/scan-schedule.ts";
import { settle } from "../catalog/settle.ts";
import { startAnother } from "./another.ts";
import { type Breaches, createBreaches, inventedBreach } from "./breaches.ts";
import { admin, type Client, createOrganization, eventually } from "./client.ts";
import type { LocalService } from "./run.ts";

const domain = "automatic.example";

type Listed = { type: string; status: string; newBreachesFound: number };

/** A day is six seconds. */
describe("scans that nobody asks for", () => {
  let service: LocalService;
  let breaches: Breaches;

  beforeAll(async () => {
    breaches = await createBreaches({ [`a@${domain}`]: ["Alpha"] }, [inventedBreach("Alpha")]);
    service = await startAnother(["--memory", "--speed", "14400", "--breaches", breaches.directory]);
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

  /** The organization's schedule as the scheduler has it. */
  const scheduleOf = async (org: number) => {
    const information = await fetch(new URL("/.local/stack", service.apiUrl));
    const { outputs } = (await information.json()) as { outputs: ScheduleOutputs };
    const name = { GroupName: outputs.ScheduleGroupName, Name: `organization-${org}` };
    return () => new SchedulerClient().send(new GetScheduleCommand(name));
  };

  test("a new organization is scanned daily; the schedule can be changed and ended", async () => {
    const { id, api } = await prepare("day");
    const [first] = await eventually(
      () => completed(api, "scheduled"),
      (scans) => scans.length > 0,
      60,
    );
    expect(first).toMatchObject({ type: "scheduled", newBreachesFound: 1 });
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
  }, 120_000);

  test("a new breach in the catalog starts a catalog_triggered scan", async () => {
    const { api } = await prepare("never");
    await breaches.write({ [`a@${domain}`]: ["Alpha", "Beta"] }, [
      inventedBreach("Alpha"),
      inventedBreach("Beta"),
    ]);
    const [triggered] = await eventually(
      () => completed(api, "catalog_triggered"),
      (scans) => scans.length > 0,
      60,
    );
    expect(triggered).toMatchObject({ type: "catalog_triggered", newBreachesFound: 2 });
  }, 120_000);

  test("a breach that is renamed or retired upstream: findings show the new title, and keep what is gone", async () => {
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
    // Now the function keeps what it has read.
    await titles();
    await titles();
    await breaches.write({ [`a@${domain}`]: ["Alpha", "Beta"] }, [
      { ...inventedBreach("Beta"), Title: "Beta as it is called now", ModifiedDate: "2030-01-01T00:00:00Z" },
    ]);
    const shown = await eventually(titles, ({ Beta }) => Beta !== "Beta (invented)", 60);
    expect(shown).toEqual({ Alpha: "Alpha (invented)", Beta: "Beta as it is called now" });
    await settle(61);
    expect(await titles()).toEqual(shown);
  }, 120_000);
});
