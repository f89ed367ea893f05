import type { Query } from "../../place.ts";

const names = ["acknowledged", "breachId", "domainId", "emailId", "scanId"] as const;

/** The filters of a list of findings, as the URL and the service have them. */
export type Filters = Partial<Record<(typeof names)[number], string>>;

export const filtersOf = (query: Query): Filters =>
  Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** The same for the body of a request, where ids are numbers. */
export const bodyOf = ({ acknowledged, ...ids }: Filters) => ({
  ...(acknowledged !== undefined && { acknowledged: acknowledged === "true" }),
  ...Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, Number(value)])),
});
