import { expect, test } from "vitest";
import { calls, lastCalls } from "../../bin/admin/deployment/checks.ts";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";

test("deployment test calls an endpoint of every role", () => {
  const roleOf = new Map<string, string>(
    [...routes, ...dashboardRoutes].map(({ name, endpoint }) => [name, [...endpoint.uses].sort().join()]),
  );
  const called = new Set(Object.keys({ ...calls, ...lastCalls }).map((name) => roleOf.get(name)));
  expect([...new Set(roleOf.values())].filter((role) => !called.has(role))).toEqual([]);
});
