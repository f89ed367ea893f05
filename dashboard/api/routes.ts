/** What the page asks the service for, with the types of the endpoints' contracts. */
import type * as z from "zod/mini";
import type { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import type { routes } from "../../functions/routes.ts";
import type { Route } from "../../shared/contract/endpoint.ts";

type Below<Base extends string, All extends readonly Route[]> = {
  [One in All[number] as `${One["method"]} ${Base}${One["path"]}`]: One["endpoint"];
};

/** Method and path below /api, by contract. */
type Routes = Below<"/dashboard", typeof dashboardRoutes> & Below<"/v1", typeof routes>;
export type RouteName = keyof Routes;

type Part<E, Name extends string> =
  E extends Record<Name, infer S extends z.ZodMiniType> ? z.input<S> : never;
type Parameters<Values> = { readonly [Name in keyof Values]?: string | number | boolean | undefined };

/** What a request of a route is made of. Values of path and query are written as text. */
export type Input<Name extends RouteName> = (Routes[Name] extends { path: z.ZodMiniType }
  ? { path: Required<Parameters<Part<Routes[Name], "path">>> }
  : unknown) &
  (Routes[Name] extends { query: z.ZodMiniType }
    ? { query?: Parameters<Part<Routes[Name], "query">> }
    : unknown) &
  (Routes[Name] extends { body: z.ZodMiniType } ? { body: Part<Routes[Name], "body"> } : unknown) &
  (Routes[Name] extends { upload: unknown } ? { file: File } : unknown);

export type Reply<Name extends RouteName> = z.output<Routes[Name]["reply"]>;

export type Overview = Reply<"GET /dashboard/overview">;
export type Finding = Reply<"GET /dashboard/findings">["findings"][number];
export type Rule = Reply<"GET /dashboard/rules">["rules"][number];
export type FoundBreach = Reply<"GET /dashboard/breaches/{id}">;
export type Email = Reply<"GET /dashboard/emails">["emails"][number];
export type Person = Reply<"GET /dashboard/emails/{id}">;
export type Unwatched = Reply<"GET /dashboard/unwatched">["addresses"][number];
export type Domain = Reply<"GET /dashboard/domains">["domains"][number];
export type Team = Reply<"GET /dashboard/teams">["teams"][number];
export type Directory = Reply<"GET /dashboard/directories">["directories"][number];
export type Member = Reply<"GET /dashboard/members">["members"][number];
export type Scan = Reply<"GET /v1/scans">["scans"][number];
export type Coverage = Reply<"GET /v1/scans/{id}/coverage">;
/** As `include=details` gives it. */
export type Channel = Extract<Reply<"GET /v1/alert-configs">["configs"][number], { options: unknown }>;
export type Delivery = Reply<"GET /dashboard/alert-configs/{id}/deliveries">["deliveries"][number];
export type ApiKey = Reply<"GET /dashboard/api-keys">["apiKeys"][number];
export type Recipient = Reply<"GET /dashboard/recipients/{token}">;
export type Session = Reply<"GET /dashboard/session">;
export type ImportPlan = Reply<"POST /v1/emails/import/preview">;
export type ImportRow = ImportPlan["emails"][number];
