import { beforeAll, describe, expect, test } from "vitest";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectEveryHeader, expectRefusal, timestamp } from "./reply.ts";

type Listed = { total: number; scans: { id: number }[]; retention: { days: number; visibleSince: string } };

describe("200", () => {
  let organization: Organization;
  let scanIds: unknown[];

  beforeAll(async () => {
    organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    scanIds = [(await scan(api)).id, (await scan(api)).id, (await scan(api)).id].reverse();
  });

  const list = async (query = "") => (await organization.api.get(`/scans${query}`)).body as Listed;

  test("an organization without scans gets an empty list", async () => {
    const { api } = await createOrganization();
    const reply = await api.get("/scans");
    expect(reply).toMatchObject({ status: 200, body: { scans: [], total: 0 } });
    expectEveryHeader(reply);
  });

  test("newest first, with every field of a scan and no others", async () => {
    const { scans, total } = await list();
    expect(total).toBe(3);
    expect(scans.map(({ id }) => id)).toEqual(scanIds);
    expect(scans.at(-1)).toEqual({
      id: scanIds.at(-1),
      type: "manual",
      status: "completed",
      totalEmails: 1,
      scannedEmails: 1,
      newBreachesFound: 3,
      findingsItemized: true,
      errorMessage: null,
      startedAt: timestamp,
      completedAt: timestamp,
      createdAt: timestamp,
    });
  });

  test("says that 365 days are visible, and since when", async () => {
    const { days, visibleSince } = (await list()).retention;
    expect(days).toBe(365);
    expect(visibleSince).toEqual(timestamp);
    const age = Date.now() - Date.parse(visibleSince);
    expect(Math.abs(age - 365 * 24 * 60 * 60 * 1000)).toBeLessThan(60_000);
  });

  test("pages, with the total of all", async () => {
    const pages = await Promise.all([0, 1, 2, 3].map((offset) => list(`?limit=1&offset=${offset}`)));
    expect(pages.flatMap(({ scans }) => scans.map(({ id }) => id))).toEqual(scanIds);
    expect(pages.map(({ total }) => total)).toEqual([3, 3, 3, 3]);
  });

  test("filters by type and status, which combine with AND", async () => {
    const totals = await Promise.all(
      [
        "type=manual",
        "type=scheduled",
        "type=catalog_triggered",
        "status=completed",
        "status=failed",
        "status=pending",
        "status=running",
        "type=manual&status=completed",
        "type=scheduled&status=completed",
      ].map(async (query) => (await list(`?${query}`)).total),
    );
    expect(totals).toEqual([3, 0, 0, 3, 0, 0, 0, 3, 0]);
  });

  test("shows no scan of another organization", async () => {
    const other = await createOrganization();
    expect((await other.api.get("/scans")).body.total).toBe(0);
  });
});

describe("400", () => {
  test.each([
    ["type=automatic", /^type/],
    ["type=", /^type/],
    ["type=Manual", /^type/],
    ["type=manual&type=scheduled", /^type/],
    ["status=done", /^status/],
    ["status=completed,failed", /^status/],
  ])("%s; the error names the parameter", async (query, error) => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/scans?${query}`), 400, error);
  });
});
