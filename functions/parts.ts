import { askedBy, type Method, type Route } from "../shared/contract/endpoint.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { routes } from "./routes.ts";

/** The parts of the API by the first segment of their paths, and the endpoints of each. */
export const parts: readonly { name: "v1" | "dashboard"; routes: readonly Route[] }[] = [
  { name: "v1", routes },
  { name: "dashboard", routes: dashboardRoutes },
];

/** Every endpoint, with its path below the stage. */
export const everyRoute: readonly Route[] = parts.flatMap(({ name, routes }) =>
  routes.map((route) => ({ ...route, path: `/${name}${route.path}` })),
);

/** The declared methods of each path below the stage, in the order of the routes. */
export const methodsByPath: ReadonlyMap<string, readonly Method[]> = new Map(
  [...Map.groupBy(everyRoute, ({ path }) => path)].map(([path, sharing]) => [path, sharing.flatMap(askedBy)]),
);
