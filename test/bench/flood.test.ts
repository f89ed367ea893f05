import { expect, inject, test } from "vitest";
import { readFigures, tableOfFigures } from "../../bench/figures.ts";
import { fullRateTable } from "../../bench/full-rate.ts";
import { floodTable } from "../../bench/month.ts";
import { resourcesOf } from "../../bench/stack.ts";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import { askedBy, type Route } from "../../shared/contract/endpoint.ts";

test("what a flood costs is the sum of what all methods of the template let through", () => {
  const resources = resourcesOf(inject("assembly"));
  const { authorized, files, page, scim } = resources.requestsPerSecond;
  expect(scim).toBeCloseTo(5 * 25 + 0.2);
  const methodsOf = (some: readonly Route[]): number => some.flatMap(askedBy).length;
  const ofEndpoints = 9 * methodsOf(routes) + 4.5 * methodsOf(dashboardRoutes);
  // And 0.2 for the method of each path that only refuses.
  expect(authorized).toBeGreaterThan(ofEndpoints);
  expect(authorized).toBeLessThan(ofEndpoints + 0.2 * (routes.length + dashboardRoutes.length));
  expect(files + page).toBeCloseTo(2 * 2.25 + 3 * 0.2);
  const stored = tableOfFigures(readFigures(), "cost", "A day of a flood");
  const computed = floodTable(resources);
  expect(computed.columns).toEqual(stored.columns);
  // The other rows also depend on the size of the page's script.
  expect(computed.rows.slice(0, 3)).toEqual(stored.rows.slice(0, 3));
  const dollarsOfDay = ({ rows }: typeof stored, index: number): number => Number(rows[index]?.at(-1));
  expect(dollarsOfDay(computed, 3)).toBeLessThan(1.1 * dollarsOfDay(stored, 3));
  // From one address, for the API and the page together.
  expect(dollarsOfDay(computed, 4)).toBeLessThan(23);
});

test("what a member and a key can cost follows from limits and measured figures", () => {
  const resources = resourcesOf(inject("assembly"));
  // Twelve endpoints, and HEAD of one of them.
  expect(resources.requestsPerSecond.open).toBeCloseTo(13 * 4.5);
  const stored = tableOfFigures(readFigures(), "cost", "A day of everything that the limits allow");
  const { columns, rows } = fullRateTable(resources, readFigures());
  expect({ columns, rows }).toEqual({ columns: stored.columns, rows: stored.rows });
});
