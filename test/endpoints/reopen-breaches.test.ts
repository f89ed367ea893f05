import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { admin } from "../service/admin.ts";
import type { Organization } from "../service/organization.ts";
import {
  createWithFindings,
  ended,
  type Finding,
  findingCount,
  findingsOf,
  reopen,
  reopened,
  requestMany,
} from "./acknowledgement.ts";
import { expectRefusal, timestamp } from "./reply.ts";

/** The tests share it. Each begins when all of its findings are acknowledged. */
let organization: Organization;
let before: Finding[];
beforeAll(async () => {
  organization = await createWithFindings();
  before = await findingsOf(organization);
});
beforeEach(async () => {
  const { api } = organization;
  await ended(api, await requestMany(api, { filter: {}, reason: "Known" }));
});

describe("202", () => {
  test("by filter: findings are as before being acknowledged, with one log entry", async () => {
    const { api, domainId } = organization;
    const filter = { domainId, severity: ["critical", "high", "medium", "low"] };
    expect((await reopen(api, { filter, dryRun: true })).body).toEqual({ matching: findingCount });
    const reply = await reopen(api, { filter, reason: "Too early" });
    expect(reply).toMatchObject({ status: 202, body: { matching: findingCount } });
    expect(await reopened(api, reply)).toEqual({
      id: reply.body.id,
      status: "completed",
      matching: findingCount,
      reopened: findingCount,
      createdAt: timestamp,
      completedAt: timestamp,
    });
    expect(await findingsOf(organization)).toEqual(before);
    expect((await api.get("/breaches")).body).toMatchObject({ unacknowledged: findingCount });
    for (const { breachCount, unacknowledgedBreachCount } of await api.list("/emails"))
      expect(unacknowledgedBreachCount).toBe(breachCount);
    const activity = await api.list("/activity?category=findings");
    expect(activity.map(({ action, summary }) => ({ action, summary }))).toEqual([
      {
        action: "findings.reopened",
        summary:
          `Reopened ${findingCount} breach findings (domain ${organization.domain}, severity ` +
          "critical, high, medium, or low): Too early",
      },
      {
        action: "findings.acknowledged",
        summary: `Acknowledged ${findingCount} breach findings as handled: Known`,
      },
    ]);
  });

  test("by ids: only what is acknowledged counts, and doing it again reopens nothing", async () => {
    const { api } = organization;
    const ids = before.slice(0, 2).map(({ id }) => id);
    expect(await reopened(api, await reopen(api, { ids }))).toMatchObject({ matching: 2, reopened: 2 });
    expect(await reopened(api, await reopen(api, { ids }))).toMatchObject({ matching: 0, reopened: 0 });
    expect((await reopen(api, { filter: { acknowledged: false }, dryRun: true })).body).toEqual({
      matching: 0,
    });
    expect((await api.get("/breaches?acknowledged=false")).body.total).toBe(2);
  });

  test("the command line reopens by severity", async () => {
    const { id: org, api } = organization;
    const { total } = (await api.get("/breaches?severity=high")).body;
    const done = await admin("finding reopen", { org, severity: "high", reason: "Look again" });
    expect(done).toMatchObject({ status: "completed", matching: total, reopened: total });
    expect(total).toBeGreaterThan(0);
    expect((await api.get("/breaches?acknowledged=false")).body.total).toBe(total);
  });
});

test("404 for a request that acknowledges, and the other way round", async () => {
  const { api } = organization;
  const acknowledged = await requestMany(api, { filter: {} });
  await ended(api, acknowledged);
  const opened = await reopen(api, { filter: {} });
  await reopened(api, opened);
  const paths = [`reopenings/${acknowledged.body.id}`, `acknowledgements/${opened.body.id}`];
  for (const path of paths) expectRefusal(await api.get(`/breaches/${path}`), 404, /has this id/);
});

test("409 while findings are acknowledged: both share one slot", async () => {
  const { id: org, api } = organization;
  await table.put({ ...keys.acknowledgementLock(org), acknowledgementId: 1 });
  expectRefusal(await reopen(api, { filter: {} }), 409, /acknowledged or reopened/, {
    code: "acknowledgement_in_progress",
  });
  await table.remove(keys.acknowledgementLock(org));
});
