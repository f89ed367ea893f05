import { describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { admin } from "../service/admin.ts";
import type { Client } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { countStatuses, expectRefusal, timestamp, unknownId } from "./reply.ts";

const waitForEnds = (api: Client) =>
  eventually(
    () => api.list("/scans"),
    (scans) => scans.every(({ status }) => status === "completed" || status === "failed"),
  );

test("201: gives the id of a manual scan, which the list shows at once, and completes", async () => {
  const { api, domainId } = await createOrganization();
  await api.post("/emails", { email: "ada@demo.example", domainId });
  const started = await api.post("/scans");
  expect(started).toMatchObject({ status: 201, body: { success: true, scanJobId: expect.any(Number) } });
  expect((await api.get("/scans")).body).toMatchObject({
    total: 1,
    scans: [{ id: started.body.scanJobId, type: "manual", totalEmails: 1 }],
  });
  const times = { createdAt: timestamp, startedAt: timestamp, completedAt: timestamp };
  expect(await waitForEnds(api)).toEqual([
    {
      ...times,
      id: started.body.scanJobId,
      type: "manual",
      status: "completed",
      totalEmails: 1,
      scannedEmails: 1,
      newBreachesFound: 3,
      findingsItemized: true,
      errorMessage: null,
    },
  ]);
});

test("400: without an active e-mail of a verified domain; no scan is recorded", async () => {
  const { id: org, api, domainId } = await createOrganization();
  expectRefusal(await api.post("/scans"), 400, /no active monitored emails/);
  const { id } = (await api.post("/emails", { email: "ada@demo.example", domainId })).body;
  await api.patch(`/emails/${id}`, { isActive: false });
  expectRefusal(await api.post("/scans"), 400, /no active monitored emails/);
  await api.patch(`/emails/${id}`, { isActive: true });
  await admin("domain unverify", { org, domain: domainId });
  expectRefusal(await api.post("/scans"), 400, /no active monitored emails/);
  expect((await api.get("/scans")).body).toMatchObject({ scans: [], total: 0 });
});

describe("409", () => {
  test("of scans started at the same instant one runs at a time", async () => {
    const { api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const replies = await Promise.all(Array.from({ length: 6 }, () => api.post("/scans")));
    const { 201: started = 0, ...others } = countStatuses(replies);
    expect(others).toEqual({ 409: 6 - started });
    for (const reply of replies.filter(({ status }) => status === 409)) {
      expectRefusal(reply, 409, /already in progress/);
    }
    // A small scan can end before the last request is handled, which then starts another scan.
    const scans = await waitForEnds(api);
    expect(scans).toHaveLength(started);
    for (const [index, { startedAt }] of scans.slice(0, -1).entries()) {
      expect(startedAt >= (scans[index + 1]?.completedAt ?? "")).toBe(true);
    }
    expect((await api.post("/scans")).status).toBe(201);
  });

  test("while a scan is in progress", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const lock = keys.scanLock(org);
    // The lock of a scan in progress, since a real scan could end before the next request.
    await table.put({ ...lock, scanId: unknownId });
    expectRefusal(await api.post("/scans"), 409, /already in progress/);
    await table.remove(lock);
    expect((await api.get("/scans")).body.total).toBe(0);
    expect((await api.post("/scans")).status).toBe(201);
  });
});
