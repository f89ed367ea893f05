import { beforeAll, describe, expect, test } from "vitest";
import { severities } from "../../shared/hibp/severity-schema.ts";
import { addEmail } from "../endpoints/emails.ts";
import { timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createChannel, publicUrl } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;

const overview = async () => {
  const reply = await user.dashboard.get("/overview");
  expect(reply).toMatchObject({ status: 200 });
  return reply.body as Record<string, Record<string, unknown>>;
};

const noFindings = { open: 0, acknowledged: 0 };

beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});

describe("200", () => {
  test("of an organization without anything", async () => {
    const { findings, ...others } = await overview();
    expect(findings).toMatchObject({ ...noFindings, topBreaches: [] });
    expect(others).toEqual({
      bySeverity: { critical: 0, high: 0, medium: 0, low: 0 },
      news: {
        since: expect.stringMatching(/T00:00:00\.000Z$/),
        findings: 0,
        open: 0,
        people: 0,
        breaches: [],
      },
      history: { findings: 0, open: 0, breaches: 0 },
      endedByRules: { left: 0, password_changed: 0, harmless: 0, answered: 0 },
      emails: { active: 0, disabled: 0, breached: 0 },
      domains: { verified: 1, unverified: 0 },
      lastScan: null,
      nextScanAt: null,
      channels: [],
      upstream: { plan: expect.any(String), subscribedUntil: timestamp, isWorking: true },
      notices: [],
      unwatched: 0,
      severeUnwatchedAt: null,
    });
  });

  test("the last 12 months in UTC, oldest first", async () => {
    const { byMonth } = (await overview()).findings ?? {};
    const now = new Date();
    const months = Array.from({ length: 12 }, (_, index) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11 + index)).toISOString().slice(0, 7),
    );
    expect(byMonth).toEqual(months.map((month) => ({ month, ...noFindings })));
  });

  test("what scans found, what is acknowledged, and the breaches that are open most", async () => {
    const { id: org, api, domainId } = organization;
    const ids: Record<string, number> = {};
    for (const name of ["ada", "alan", "grace", "radia", "nobody", "disabled"]) {
      ids[name] = await addEmail(api, domainId, `${name}@demo.example`);
    }
    await api.patch(`/emails/${ids.disabled}`, { isActive: false });
    const other = await admin("domain add", { org, name: "other.example", verified: true });
    await addEmail(api, other.id, "left@other.example");
    await admin("domain unverify", { org, domain: other.id });
    const scanned = await scan(api);

    const found = await api.list("/breaches?limit=100&include=details");
    expect(found.length).toBeGreaterThan(5);
    await api.post("/breaches/acknowledge", { id: found[0].id });
    const open = found.slice(1);
    const named = (breachId: number, some: typeof found) => ({
      breachId,
      title: some[0].breach.title,
      breachDate: some[0].breach.breachDate,
    });
    const top = [...Map.groupBy(open, ({ breach }) => breach.id)]
      .map(([breachId, some]) => ({ ...named(breachId, some), open: some.length }))
      .sort((one, another) => another.open - one.open || one.breachId - another.breachId)
      .slice(0, 5);

    const { findings, emails, domains, lastScan, bySeverity, news, history } = await overview();
    expect(domains).toEqual({ verified: 1, unverified: 1 });
    // The first check of each address found these: nothing is new.
    expect(found.every(({ isHistory }) => isHistory)).toBe(true);
    expect(news).toMatchObject({ findings: 0, open: 0, people: 0, breaches: [] });
    const breaches = new Set(found.map(({ breach }) => breach.id)).size;
    expect(history).toEqual({ findings: found.length, open: open.length, breaches });
    const week = Date.now() - Date.parse(String(news?.since));
    expect(week).toBeGreaterThanOrEqual(7 * 86_400_000);
    expect(week).toBeLessThan(8 * 86_400_000);
    expect(bySeverity).toEqual(
      Object.fromEntries(
        severities.map((level) => [level, open.filter(({ severity }) => severity === level).length]),
      ),
    );
    const counted = { open: open.length, acknowledged: 1 };
    expect(findings).toMatchObject({ ...counted, topBreaches: top });
    const { byMonth } = findings as { byMonth: unknown[] };
    expect(byMonth.at(-1)).toEqual({
      month: new Date().toISOString().slice(0, 7),
      ...counted,
    });
    expect(emails).toEqual({ active: 6, disabled: 1, breached: 4 });
    expect(lastScan).toEqual({ ...scanned, coverage: { checked: 5, failed: 0, stale: 0, skipped: 1 } });
  });

  // deliveries.test.ts has a channel that fails.
  test("channels, newest first", async () => {
    const { api } = organization;
    // Neither is told of the other, whose url answers nobody.
    const webhook = { channel: "webhook", config: { url: publicUrl }, notifyOnScanError: false };
    const ids = [await createChannel(api, webhook), await createChannel(api, webhook)];
    const options = (await api.get(`/alert-configs/${ids[0]}/options`)).body;
    await api.put(`/alert-configs/${ids[0]}/options`, { ...options, name: "Tickets" });
    const working = {
      channel: "webhook",
      failing: false,
      failingSince: null,
      notDelivered: 0,
      waitsFor: null,
    };
    expect((await overview()).channels).toEqual([
      { id: ids[1], name: null, ...working },
      { id: ids[0], name: "Tickets", ...working },
    ]);
  });

  test("which channel's message waits, for what and until when", async () => {
    const { api, id: org } = organization;
    const id = await createChannel(api, { channel: "email", config: { recipients: ["ada@demo.example"] } });
    await admin("org mail-budget", { org, hour: 0, day: 0 });
    await admin("channel test", { org, channel: id });
    const channelOf = async () => {
      const all = (await overview()).channels as unknown as { id: number; waitsFor: unknown }[];
      return all.find((each) => each.id === id);
    };
    const waits = await eventually(channelOf, (channel) => channel?.waitsFor !== null);
    expect(waits).toMatchObject({
      failing: false,
      waitsFor: { reason: "budget of e-mails is used up", until: timestamp },
    });
  });

  test("when the next scan is, up to an interval from now", async () => {
    await admin("scan schedule", { org: organization.id, every: "day" });
    const { nextScanAt } = (await overview()) as unknown as { nextScanAt: string };
    const inMilliseconds = Date.parse(nextScanAt) - Date.now();
    expect(inMilliseconds).toBeGreaterThan(-60_000);
    expect(inMilliseconds).toBeLessThanOrEqual(86_400_000);
    await admin("scan schedule", { org: organization.id, every: "never" });
    expect((await overview()).nextScanAt).toBe(null);
  });
});
