import { beforeAll, describe, expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { addBreachedEmail, createChannel, expectSignedWith, inboxOf } from "../service/alert-channels.ts";
import type { Row } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { receivedAt, waitForRequests } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { expectRefusal, timestamp } from "./reply.ts";

let organization: Organization;
let emailId: number;
let channel: number;
let envelopes: Record<string, { id: number; data: Record<string, unknown> }>;

const get = (id: unknown) => organization.api.get(`/events/${id}`);

beforeAll(async () => {
  organization = await createOrganization();
  const { id: org, api } = organization;
  const url = inboxOf(organization, "events");
  channel = await createChannel(api, { channel: "webhook", config: { url }, notifyOnScanComplete: true });
  emailId = await addBreachedEmail(organization, { ownerName: "Ada Lovelace" });
  await scan(api);
  // A channel that wants new breaches would get an example of one.
  await api.patch(`/alert-configs/${channel}`, { notifyOnNewBreach: false });
  await admin("channel test", { org, channel });
  const received = await eventually(
    () => receivedAt(url),
    (requests) => requests.length >= 3,
  );
  const bodies = received.map(({ body }) => JSON.parse(String(body)));
  envelopes = Object.fromEntries(bodies.map((body) => [body.type, body]));
});

describe("200", () => {
  test("a breach event: its findings in full, and the scan that found them", async () => {
    const { id, data } = envelopes.breach as { id: number; data: { breaches: object[] } };
    const reply = await get(id);
    const { api } = organization;
    const { findings, ...rest } = reply.body as { findings: Row[] };
    expect({ status: reply.status, ...rest }).toEqual({
      ...{ status: 200, id, type: "breach", createdAt: timestamp },
      scan: (await api.list("/scans"))[0],
    });
    const byId = (some: Row[]) => some.toSorted((one, other) => one.id - other.id);
    expect(byId(findings)).toEqual(byId(await api.list("/breaches?include=details")));
    const plain = await api.list("/breaches");
    const told = findings.map((finding) => {
      const {
        id: breachId,
        title,
        domain,
        dataClasses,
      } = plain.find((each) => each.id === finding.id).breach;
      return { breachId, title, domain, dataClasses };
    });
    expect(data.breaches).toEqual(told);
  });

  test("of the end of a scan: no findings, and the scan", async () => {
    const { body } = await get(envelopes.scan_complete?.id);
    expect(body).toMatchObject({ type: "scan_complete", findings: [], scan: { status: "completed" } });
  });

  test("an error outside of scans has no findings and no scan, for users too", async () => {
    const user = await signedIn(organization.id);
    const reply = await user.v1.get(`/events/${envelopes.scan_error?.id}`);
    expect(reply).toMatchObject({ status: 200, body: { type: "scan_error", findings: [], scan: null } });
  });
});

describe("a webhook with details", () => {
  test("gets one signed event per breach, with the API's findings", async () => {
    const own = await createOrganization();
    const { api } = own;
    const url = inboxOf(own, "details");
    const secret = "shared secret of the hook";
    const id = await createChannel(api, { channel: "webhook", config: { url, secret } });
    const { body: options } = await api.get(`/alert-configs/${id}/options`);
    const detailed = { ...options, grouping: "scan", details: true };
    expect(await api.put(`/alert-configs/${id}/options`, detailed)).toMatchObject({ status: 200 });
    await addBreachedEmail(own, { ownerName: "Ada Lovelace" });
    await scan(api);
    const received = await waitForRequests(url, 1);
    for (const request of received) expectSignedWith(request, secret);
    const { id: eventId, data } = JSON.parse(String(received[0]?.body));
    const { findings } = (await api.get(`/events/${eventId}`)).body as { findings: Row[] };
    expect(findings.length).toBeGreaterThan(0);
    expect(data.details).toMatchObject({ people: 1, findings });
    expect(await api.list("/breaches?include=details")).toEqual(expect.arrayContaining(findings));
    const sent = await admin("channel test", { org: own.id, channel: id });
    expect(sent).toBeDefined();
    const [, test] = await waitForRequests(url, 2);
    expect(JSON.parse(String(test?.body)).data).toMatchObject({
      breaches: [{ title: "Test: Example Shop" }],
      details: { people: 2, findings: [{ email: "ada@company.example" }, { email: "alan@company.example" }] },
    });
  });
});

describe("what was removed", () => {
  test("leaves out an e-mail's findings, even before they are deleted", async () => {
    const key = emails.key(organization.id, emailId);
    const row = (await table.get<Record<string, unknown>>(key)) ?? {};
    await table.remove(key);
    expect((await get(envelopes.breach?.id)).body).toMatchObject({
      findings: [],
      scan: { id: expect.any(Number) },
    });
    await table.put({ ...key, ...row });
    expect((await organization.api.delete(`/emails?id=${emailId}`)).status).toBe(200);
    expect((await get(envelopes.breach?.id)).body).toMatchObject({ findings: [] });
  });

  test("an event of a removed channel is not found", async () => {
    await organization.api.delete(`/alert-configs/${channel}`);
    expectRefusal(await get(envelopes.breach?.id), 404, /event/);
  });
});
