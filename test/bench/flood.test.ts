import { afterAll, expect, test } from "vitest";
import { readFigures, tableOfFigures } from "../../bench/figures.ts";
import { floodTable } from "../../bench/month.ts";
import { plainAssembly, removeScratch } from "../../bench/service.ts";
import { resourcesOf } from "../../bench/stack.ts";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";

afterAll(removeScratch);

test("what a flood costs is the sum of what all methods of the template let through", async () => {
  const resources = resourcesOf(await plainAssembly());
  const { authorized, page } = resources.requestsPerSecond;
  const endpoints = routes.length + dashboardRoutes.length;
  // Five a second for each endpoint, and 0.2 for each method that only refuses, of which each path has one.
  expect(authorized).toBeGreaterThan(5 * endpoints);
  expect(authorized).toBeLessThan(5.2 * endpoints);
  expect(page).toBeCloseTo(2 * 5 + 3 * 0.2);
  const stored = tableOfFigures(readFigures(), "cost", "A day of a flood");
  const computed = floodTable(resources);
  expect(computed.columns).toEqual(stored.columns);
  // The last row also depends on the size of the page's script.
  expect(computed.rows.slice(0, -1)).toEqual(stored.rows.slice(0, -1));
  const [ofScript, ofStored] = [computed, stored].map(({ rows }) => Number(rows.at(-1)?.at(-1)));
  expect(ofScript).toBeLessThan(1.1 * Number(ofStored));
});
