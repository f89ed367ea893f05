import { beforeAll, describe, expect, test, vi } from "vitest";
import { administrator, service } from "../../shared/access/activity/actor.ts";
import { keys, listKinds } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { start } from "../../shared/scanning/start.ts";
import type { Entry as Logged } from "../dashboard/activity.ts";
import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { countStatuses, unknownId } from "./reply.ts";

type Entry = Logged & { createdAt: string };
type Listed = { total: number; activity: Entry[] };

const list = async (api: Client, query = ""): Promise<Listed> =>
  (await api.get(`/activity${query}`)).body as Listed;

/** The actions that are logged while `act` runs, oldest first. */
const logged = async (api: Client, act: () => Promise<unknown>): Promise<string[]> => {
  const before = await list(api, "?limit=1");
  await act();
  const after = await list(api, "?limit=100");
  return after.activity
    .slice(0, after.total - before.total)
    .map(({ action }) => action)
    .reverse();
};

const url = "https://192.0.32.8/T0KEN";
const byAdministrator = { type: "system", label: "Administrator" };
const byKey = { type: "api_key", label: "Test key" };
const byService = { type: "system", label: "Breach Monitor" };

describe("200", () => {
  let organization: Organization;
  let api: Client;
  let user: SignedIn;
  let all: Entry[];

  beforeAll(async () => {
    organization = await createOrganization();
    api = organization.api;
    const { id: org, domainId } = organization;
    user = await signedIn(org);
    const { id: team } = await admin("team create", { org, name: "Finance" });
    const { id: other } = await admin("key create", { org, label: "Other key" });
    await admin("key revoke", { org, key: other });

    const added = await api.post("/emails", { email: "ada@demo.example", domainId, teamId: team });
    await user.v1.patch(`/emails/${added.body.id}`, { isActive: false });
    await api.patch(`/emails/${added.body.id}`, { isActive: true });
    await scan(user.v1);
    const breaches = await api.list("/breaches");
    await user.v1.post("/breaches/acknowledge", { id: breaches[0]?.id, reason: "REASON" });
    await api.delete(`/emails?id=${added.body.id}`);

    const config = { url, secret: "s3cr3t-of-the-hook" };
    const channel = await user.v1.post("/alert-configs", { channel: "webhook", config });
    await api.patch(`/alert-configs/${channel.body.id}`, { notifyOnScanComplete: true });
    await api.delete(`/alert-configs/${channel.body.id}`);
    all = (await list(api)).activity;
  });

  test("every action has its category and its actor, newest first", () => {
    const byUser = { type: "user", label: user.email };
    const expected: [action: string, category: string, actor: Entry["actor"]][] = [
      ["alert_config.deleted", "alerts", byKey],
      ["alert_config.updated", "alerts", byKey],
      ["alert_config.created", "alerts", byUser],
      ["email.removed", "monitoring", byKey],
      ["finding.acknowledged", "findings", byUser],
      ["scan.completed", "monitoring", byService],
      ["scan.started", "monitoring", byUser],
      ["email.enabled", "monitoring", byKey],
      ["email.disabled", "monitoring", byUser],
      ["email.added", "monitoring", byKey],
      ["api_key.revoked", "api_keys", byAdministrator],
      ["api_key.created", "api_keys", byAdministrator],
      ["team.created", "teams", byAdministrator],
      ["member.added", "teams", byAdministrator],
      ["api_key.created", "api_keys", byAdministrator],
    ];
    expect(all.map(({ action, category, actor }) => [action, category, actor])).toEqual(expected);
    const times = all.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    for (const { summary } of all) expect(summary).toMatch(/^[A-Z][^\n]+$/);
    expect(all.find(({ action }) => action === "email.added")?.summary).toContain("ada@demo.example");
    expect(all.find(({ action }) => action === "team.created")?.summary).toContain("Finance");
    expect(all.find(({ action }) => action === "member.added")?.summary).toBe(
      `Added ${user.email} as an admin`,
    );
  });

  test("IP addresses, secrets, reasons and internals are never returned", async () => {
    const reply = await api.get("/activity");
    const text = JSON.stringify(reply.body);
    expect(text).not.toMatch(/127\.\d+\.\d+\.\d+|192\.0\.32\.8/);
    expect(text).not.toMatch(/T0KEN|s3cr3t|REASON|bms_|ORG#|organizationId|"group"|"pk"|"sk"/);
  });

  test("the category filters, with the filtered total", async () => {
    const totals = { monitoring: 6, findings: 1, alerts: 3, teams: 2, api_keys: 3 };
    for (const [category, total] of Object.entries(totals)) {
      const filtered = await list(api, `?category=${category}`);
      expect(filtered).toMatchObject({ total });
      expect(filtered.activity).toEqual(all.filter((entry) => entry.category === category));
    }
  });
});

describe("200: the actor", () => {
  test("that is a key keeps its label when the key is revoked", async () => {
    const { id: org, keyId, domainId, api } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    await admin("key revoke", { org, key: keyId });
    const other = await admin("key create", { org, label: "Other key" });
    const { activity: entries } = await list(createClient({ authorization: `Bearer ${other.key}` }));
    expect(entries.find(({ action }) => action === "email.added")?.actor).toEqual(byKey);
  });

  test("of a scan that failed to start: who asked, then the service", async () => {
    const { id: org, domainId, api } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    vi.stubEnv("SCAN_PLANS_QUEUE_URL", `${process.env.DELIVERIES_QUEUE_URL}-that-is-not-there`);
    await expect(start(org, "manual", administrator)).rejects.toMatchObject({ refusal: "scanNotQueued" });
    vi.unstubAllEnvs();
    const { activity: entries } = await list(api, "?limit=2");
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ["scan.failed", byService],
      ["scan.started", byAdministrator],
    ]);
    expect((await api.get("/scans")).body).toMatchObject({
      total: 1,
      scans: [{ status: "failed", errorMessage: entries[0]?.summary, findingsItemized: false }],
    });
    expect(await table.query({ pk: keys.outbox(org, "").pk })).toMatchObject([
      { type: "problem", error: entries[0]?.summary, dueAt: expect.any(String) },
    ]);
    // The scan lock is free.
    expect((await api.post("/scans")).status).toBe(201);
  });
});

describe("200: nothing is logged", () => {
  test("for PATCHes without a change, or for a key revoked again", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const other = await admin("key create", { org, label: "Other" });
    await admin("key revoke", { org, key: other.id });
    const email = await api.post("/emails", { email: "ada@demo.example", domainId });
    const config = { url, secret: "s" };
    const channel = await api.post("/alert-configs", { channel: "webhook", config });
    const path = `/alert-configs/${channel.body.id}`;
    const actions = await logged(api, async () => {
      const replies = [
        await api.patch(`/emails/${email.body.id}`, { isActive: true }),
        await api.patch(path, {}),
        await api.patch(path, { config: {} }),
        await api.patch(path, { isEnabled: true, channel: "webhook", notifyOnScanError: true }),
        await api.patch(path, { config: { url: "https://192.0.32.8/..." } }),
        await api.patch(path, { config: { secret: "s" } }),
      ];
      expect(countStatuses(replies)).toEqual({ 200: 6 });
      await admin("key revoke", { org, key: other.id });
    });
    expect(actions).toEqual([]);
  });

  test("of refused requests, which take no id of any list", async () => {
    const { id: org, api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const foreign = await createOrganization();
    const domain = await admin("domain add", { org, name: "unverified.example" });
    const email = await api.post("/emails", { email: "ada@demo.example", domainId });
    const channel = await api.post("/alert-configs", { channel: "webhook", config: { url } });
    const heads = () => Promise.all(listKinds.map((kind) => table.get(keys.listHead(org, kind))));
    const before = await heads();
    const actions = await logged(api, async () => {
      const replies = [
        await api.post("/emails", { email: "ada@demo.example", domainId }),
        await api.post("/emails", { email: "alan@demo.example", domainId: foreign.domainId }),
        await api.post("/emails", { email: "a@unverified.example", domainId: domain.id }),
        await api.patch(`/emails/${unknownId}`, { isActive: false }),
        await api.delete(`/emails?id=${unknownId}`),
        await api.post("/breaches/acknowledge", { id: unknownId }),
        await api.patch(`/alert-configs/${channel.body.id}`, { config: { url: "https://10.0.0.1/" } }),
        await api.patch(`/alert-configs/${channel.body.id}`, { channel: "email" }),
        await api.patch(`/alert-configs/${unknownId}`, { isEnabled: false }),
        await api.delete(`/alert-configs/${unknownId}`),
        await foreign.api.delete(`/emails?id=${email.body.id}`),
        await foreign.api.post("/scans"),
      ];
      expect(await heads()).toEqual(before);
      // Beyond the seat allowance, which the transaction itself refuses.
      replies.push(await api.post("/emails", { email: "alan@demo.example", domainId }));
      expect(replies.every(({ status }) => status >= 400 && status < 500)).toBe(true);
      await expect(start(foreign.id, "manual", service)).rejects.toThrow(Refusal);
    });
    expect(actions).toEqual([]);
    expect((await list(foreign.api)).total).toBe(1);
  });
});
