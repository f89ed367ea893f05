import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createScanned } from "../service/scanned.ts";
import { addEmail } from "./emails.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

describe("200", () => {
  test("deletes its findings, whose ids no longer resolve; the scan stays itemized", async () => {
    const { api, domainId, scanId, emailIds } = await createScanned(["ada", "alan"]);
    const [ada, alan] = emailIds;
    const list = async (query = "") => (await api.get(`/breaches${query}`)).body;
    const { breaches } = (await list()) as { breaches: { id: number; emailId: number }[] };
    const [removed, acknowledged] = breaches.filter(({ emailId }) => emailId === ada);
    await api.post("/breaches/acknowledge", { id: acknowledged?.id });
    const reply = await api.delete(`/emails?id=${ada}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect((await api.get(`/emails?domainId=${domainId}`)).body).toMatchObject({
      total: 1,
      emails: [{ id: alan }],
    });
    const kept = { total: 1, unacknowledged: 1, breaches: [{ emailId: alan }] };
    expect(await list()).toMatchObject(kept);
    expect(await list(`?scanId=${scanId}`)).toMatchObject(kept);
    expect(await list("?acknowledged=true")).toEqual({ total: 0, unacknowledged: 1, breaches: [] });
    for (const gone of [removed, acknowledged]) {
      expectRefusal(await api.post("/breaches/acknowledge", { id: gone?.id }), 404, /finding/);
    }
    expect((await api.get("/scans")).body.scans).toMatchObject([
      { newBreachesFound: 4, findingsItemized: true },
    ]);
  });

  test("an address that is added again starts anew: new id, new findings", async () => {
    const { api, domainId, emailIds } = await createScanned();
    const [first = 0] = emailIds;
    const before = await api.list("/breaches");
    await api.delete(`/emails?id=${first}`);
    const second = await addEmail(api, domainId);
    expect(second).toBeGreaterThan(first);
    expect((await api.get("/emails")).body.emails).toMatchObject([{ lastScannedAt: null, breachCount: 0 }]);
    expect(await scan(api)).toMatchObject({ newBreachesFound: 3 });
    const after = await api.list("/breaches");
    expect(after.map(({ emailId }) => emailId)).toEqual([second, second, second]);
    expect(Math.min(...after.map(({ id }) => id))).toBeGreaterThan(Math.max(...before.map(({ id }) => id)));
  });

  test("frees the seat of an active e-mail, once, and none of a disabled one", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "2" });
    const [one, other] = [await addEmail(api, domainId), await addEmail(api, domainId, "b@demo.example")];
    await api.patch(`/emails/${other}`, { isActive: false });
    for (const id of [one, other]) await api.delete(`/emails?id=${id}`);
    expectRefusal(await api.delete(`/emails?id=${other}`), 404, /email/);
    const more = await Promise.all(
      ["c", "d", "e"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
    );
    expect(countStatuses(more)).toEqual({ 201: 2, 400: 1 });
  });

  test("twice and with a change at the same instant leaves totals and seats right", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const id = await addEmail(api, domainId);
    const [changed, ...removed] = await Promise.all([
      api.patch(`/emails/${id}`, { isActive: false }),
      ...[1, 2, 3, 4].map(() => api.delete(`/emails?id=${id}`)),
    ]);
    expect(countStatuses(removed)).toEqual({ 200: 1, 404: 3 });
    expect([200, 404]).toContain(changed?.status);
    expect((await api.get("/emails")).body.total).toBe(0);
    const more = await Promise.all(
      ["b", "c"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
    );
    expect(countStatuses(more)).toEqual({ 201: 1, 400: 1 });
  });
});
