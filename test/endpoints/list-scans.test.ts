import { beforeAll, describe, expect, test } from "vitest";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";

describe("200", () => {
  let organization: Organization;
  let scanIds: unknown[];

  beforeAll(async () => {
    organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    scanIds = [(await scan(api)).id, (await scan(api)).id].reverse();
  });

  const list = async (query = "") => (await organization.api.get(`/scans${query}`)).body;

  test("says that 365 days are visible, and since when", async () => {
    const { days, visibleSince } = (await list()).retention as { days: number; visibleSince: string };
    expect(days).toBe(365);
    const age = Date.now() - Date.parse(visibleSince);
    expect(Math.abs(age - 365 * 24 * 60 * 60 * 1000)).toBeLessThan(60_000);
  });

  test("newest first, in pages with the total of all", async () => {
    const pages = await Promise.all([0, 1, 2].map((offset) => list(`?limit=1&offset=${offset}`)));
    expect(pages).toMatchObject([
      ...scanIds.map((id) => ({ scans: [{ id }], total: 2 })),
      { scans: [], total: 2 },
    ]);
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
    expect(totals).toEqual([2, 0, 0, 2, 0, 0, 0, 2, 0]);
  });
});
