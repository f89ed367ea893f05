import { beforeAll, describe, expect, test } from "vitest";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectEveryHeader, expectRefusal, timestamp, unknownId } from "./reply.ts";

type Listed = { total: number; unacknowledged: number; breaches: { id: number; email: string }[] };

describe("200", () => {
  let organization: Organization;
  let emailId: unknown;
  let first: unknown;
  let second: unknown;

  // The first scan finds three breaches of ada, the second four of grace. One finding of each scan is
  // acknowledged.
  beforeAll(async () => {
    organization = await createOrganization();
    const { api, domainId } = organization;
    emailId = (await api.post("/emails", { email: "ada@demo.example", domainId })).body.id;
    first = (await scan(api)).id;
    await api.post("/emails", { email: "grace@demo.example", domainId });
    second = (await scan(api)).id;
    const { breaches } = await list();
    for (const id of [breaches.at(0)?.id, breaches.at(-1)?.id])
      await api.post("/breaches/acknowledge", { id });
  });

  const list = async (query = "") => (await organization.api.get(`/breaches${query}`)).body as Listed;

  test("an organization without findings gets an empty list", async () => {
    const { api } = await createOrganization();
    const reply = await api.get("/breaches");
    expect(reply).toMatchObject({ status: 200, body: { breaches: [], total: 0, unacknowledged: 0 } });
    expectEveryHeader(reply);
  });

  test("a finding has exactly the fields of the contract, with the breach's details", async () => {
    const { breaches } = await list(`?scanId=${first}&acknowledged=false`);
    const found = breaches.find(
      (each) => (each as unknown as { breach: { name: string } }).breach.name === "ExampleTravel",
    );
    const [other] = breaches;
    expect(found ?? other).toEqual({
      id: expect.any(Number),
      email: "ada@demo.example",
      emailId,
      breach: {
        id: expect.any(Number),
        name: expect.stringMatching(/^Example/),
        title: expect.stringMatching(/\(invented\)$/),
        domain: expect.any(String),
        breachDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        dataClasses: expect.arrayContaining(["Email addresses"]),
        pwnCount: expect.any(Number),
        description: expect.any(String),
      },
      firstDetectedAt: timestamp,
      lastSeenAt: timestamp,
      firstDetectedScanId: first,
      acknowledged: false,
      acknowledgedAt: null,
      acknowledgedBy: null,
      acknowledgedByApiKey: null,
      acknowledgeReason: null,
      resolution: null,
    });
  });

  test("newest first: highest id first, and pages show each finding once", async () => {
    const { breaches, total, unacknowledged } = await list();
    expect([breaches.length, total, unacknowledged]).toEqual([7, 7, 5]);
    const ids = breaches.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => list(`?limit=3&offset=${offset}`)));
    expect(pages.flatMap((page) => page.breaches)).toEqual(breaches);
    expect(pages.map((page) => page.total)).toEqual([7, 7, 7, 7]);
  });

  test("filters combine with AND; unacknowledged counts all, whatever the filters", async () => {
    const totals = async (query: string) => {
      const { breaches, total, unacknowledged } = await list(`?${query}`);
      expect(breaches).toHaveLength(total);
      return [total, unacknowledged];
    };
    expect(await totals("acknowledged=true")).toEqual([2, 5]);
    expect(await totals("acknowledged=false")).toEqual([5, 5]);
    expect(await totals(`scanId=${first}`)).toEqual([3, 5]);
    expect(await totals(`scanId=${second}`)).toEqual([4, 5]);
    expect(await totals(`scanId=${second}&acknowledged=true`)).toEqual([1, 5]);
    expect(await totals(`scanId=${first}&acknowledged=false`)).toEqual([2, 5]);
  });

  test("lastSeenAt is the e-mail's last check, and stands still while it is disabled", async () => {
    const { api, domainId } = await createOrganization();
    const ids: unknown[] = [];
    for (const alias of ["ada", "grace"]) {
      ids.push((await api.post("/emails", { email: `${alias}@demo.example`, domainId })).body.id);
    }
    type Found = { emailId: unknown; lastSeenAt: string };
    type Email = { id: unknown; lastScannedAt: string };
    /** The lastSeenAt of each e-mail, which must be the same in both lists. */
    const seen = async (): Promise<string[]> => {
      const { breaches } = (await api.get("/breaches")).body as { breaches: Found[] };
      const { emails } = (await api.get("/emails")).body as { emails: Email[] };
      return ids.map((id) => {
        const times = new Set(
          breaches.filter(({ emailId }) => emailId === id).map(({ lastSeenAt }) => lastSeenAt),
        );
        const [lastSeenAt] = times;
        expect(times.size).toBe(1);
        expect(lastSeenAt).toBe(emails.find((email) => email.id === id)?.lastScannedAt);
        return lastSeenAt ?? "";
      });
    };
    await scan(api);
    const [disabledAt, before = ""] = await seen();
    await api.patch(`/emails/${ids[0]}`, { isActive: false });
    await scan(api);
    const [whileDisabled, after = ""] = await seen();
    expect(whileDisabled).toBe(disabledAt);
    expect(after > before).toBe(true);
    await api.patch(`/emails/${ids[0]}`, { isActive: true });
    expect((await seen())[0]).toBe(disabledAt);
    await scan(api);
    const [enabled, other] = await seen();
    expect(enabled).toBe(other);
  });

  test("a scan that sees a finding again moves its lastSeenAt, but not its scan", async () => {
    const ofFirst = (await list(`?scanId=${first}`)).breaches as unknown as Record<string, string>[];
    for (const { firstDetectedAt = "", lastSeenAt = "" } of ofFirst) {
      expect(lastSeenAt > firstDetectedAt).toBe(true);
    }
    const ofSecond = (await list(`?scanId=${second}`)).breaches as unknown as Record<string, string>[];
    for (const { firstDetectedAt, lastSeenAt } of ofSecond) expect(lastSeenAt).toBe(firstDetectedAt);
  });

  test("an unknown or foreign scanId gives an empty list", async () => {
    const other = await createOrganization();
    expect(await list(`?scanId=${unknownId}`)).toEqual({ breaches: [], total: 0, unacknowledged: 5 });
    expect((await other.api.get(`/breaches?scanId=${first}`)).body).toEqual({
      breaches: [],
      total: 0,
      unacknowledged: 0,
    });
  });
});

describe("400", () => {
  test.each([
    ["acknowledged=yes", /^acknowledged/],
    ["acknowledged=", /^acknowledged/],
    ["scanId=last", /^scanId/],
    ["scanId=0", /^scanId/],
    ["scanId=1&scanId=2", /^scanId/],
  ])("%s; the error names the parameter", async (query, error) => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/breaches?${query}`), 400, error);
  });
});
