import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { addEmail } from "./emails.ts";
import { countStatuses, expectEveryHeader, expectRefusal, unknownId } from "./reply.ts";

describe("200", () => {
  test("the e-mail is gone from the list and its totals, and answers {success: true}", async () => {
    const { api, domainId } = await createOrganization();
    const [id, other] = [await addEmail(api, domainId), await addEmail(api, domainId, "alan@demo.example")];
    const reply = await api.delete(`/emails?id=${id}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expectEveryHeader(reply);
    expect((await api.get("/emails")).body).toMatchObject({ total: 1, emails: [{ id: other }] });
    expect((await api.get(`/emails?domainId=${domainId}&isActive=true`)).body.total).toBe(1);
  });

  test("deletes its findings, whose ids no longer resolve; the scan stays itemized", async () => {
    const { api, domainId } = await createOrganization();
    const [ada, alan] = await Promise.all([
      addEmail(api, domainId),
      addEmail(api, domainId, "alan@demo.example"),
    ]);
    const { id: scanId } = await scan(api);
    const list = async (query = "") => (await api.get(`/breaches${query}`)).body;
    const { breaches } = (await list()) as { breaches: { id: number; emailId: number }[] };
    const [removed, acknowledged] = breaches.filter(({ emailId }) => emailId === ada);
    await api.post("/breaches/acknowledge", { id: acknowledged?.id });
    await api.delete(`/emails?id=${ada}`);

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
    const { api, domainId } = await createOrganization();
    const first = await addEmail(api, domainId);
    await scan(api);
    const before = (await api.get("/breaches")).body.breaches as { id: number }[];
    await api.delete(`/emails?id=${first}`);
    const second = await addEmail(api, domainId);
    expect(second).toBeGreaterThan(first);
    expect((await api.get("/emails")).body.emails).toMatchObject([{ lastScannedAt: null, breachCount: 0 }]);
    expect(await scan(api)).toMatchObject({ newBreachesFound: 3 });
    const after = (await api.get("/breaches")).body.breaches as { id: number; emailId: number }[];
    expect(after.map(({ emailId }) => emailId)).toEqual([second, second, second]);
    expect(Math.min(...after.map(({ id }) => id))).toBeGreaterThan(Math.max(...before.map(({ id }) => id)));
  });

  test("removing frees the seat of an active e-mail, once, and none of a disabled one", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "2" });
    const [one, other] = [await addEmail(api, domainId), await addEmail(api, domainId, "b@demo.example")];
    await api.patch(`/emails/${other}`, { isActive: false });
    for (const id of [one, other, other]) await api.delete(`/emails?id=${id}`);
    const more = await Promise.all(
      ["c", "d", "e"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
    );
    expect(countStatuses(more)).toEqual({ 201: 2, 400: 1 });
  });

  test("of removals of one e-mail at the same instant exactly one succeeds", async () => {
    const { api, domainId } = await createOrganization();
    const id = await addEmail(api, domainId);
    const replies = await Promise.all(Array.from({ length: 4 }, () => api.delete(`/emails?id=${id}`)));
    expect(countStatuses(replies)).toEqual({ 200: 1, 404: 3 });
    expect((await api.get("/emails")).body).toEqual({ emails: [], total: 0 });
  });

  test("removing and changing at the same instant leaves totals and seats right", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const id = await addEmail(api, domainId);
    const [removed, changed] = await Promise.all([
      api.delete(`/emails?id=${id}`),
      api.patch(`/emails/${id}`, { isActive: false }),
    ]);
    expect(removed.status).toBe(200);
    expect([200, 404]).toContain(changed.status);
    expect((await api.get("/emails")).body.total).toBe(0);
    const more = await Promise.all(
      ["b", "c"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
    );
    expect(countStatuses(more)).toEqual({ 201: 1, 400: 1 });
  });
});

describe("400", () => {
  test.each([
    "",
    "?id=",
    "?id=abc",
    "?id=0",
    "?id=-1",
    "?id=1.0",
    "?id=1e3",
    "?id=01",
    "?id=9007199254740993",
    "?id=1&id=2",
  ])("DELETE /emails%s; the error names the id", async (query) => {
    const { api } = await createOrganization();
    expectRefusal(await api.delete(`/emails${query}`), 400, /^id/);
  });
});

describe("404", () => {
  test("an unknown id, and one that was removed before", async () => {
    const { api, domainId } = await createOrganization();
    const id = await addEmail(api, domainId);
    await api.delete(`/emails?id=${id}`);
    for (const gone of [unknownId, id]) expectRefusal(await api.delete(`/emails?id=${gone}`), 404, /email/);
  });
});
