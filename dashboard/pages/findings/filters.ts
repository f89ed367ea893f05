import type { Finding } from "../../api/routes.ts";
import type { Severity } from "../../components/severity.tsx";
import type { Query } from "../../place.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { count } from "../../text/words.ts";

const names = ["acknowledged", "severity", "breachId", "domainId", "emailId", "scanId"] as const;

/** The filters of a list of findings, as the service has them. */
export type Filters = Partial<Record<(typeof names)[number], string>>;

/** What the URL has for open findings, and findings of any state: the list opens on what is to do. */
export const openOnes = "false";
export const anyState = "any";

export function filtersOf(query: Query): Filters {
  const given = names.flatMap((name) => (query[name] ? [[name, query[name]]] : []));
  const { acknowledged = openOnes, ...filters }: Filters = Object.fromEntries(given);
  return acknowledged === anyState ? filters : { acknowledged, ...filters };
}

/** The same for the body of a request, where ids are numbers. */
export const bodyOf = ({ acknowledged, severity, ...ids }: Filters) => ({
  ...(acknowledged !== undefined && { acknowledged: acknowledged === "true" }),
  ...(severity !== undefined && { severity: severity.split(",") as Severity[] }),
  ...Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, Number(value)])),
});

/** The names of what filters have as ids, as far as they are known. */
export type Names = { breach?: string | undefined; email?: string | undefined; domain?: string | undefined };

/** As one of the findings that match has them. */
export const namesOf = (finding: Finding | undefined): Names => ({
  breach: finding?.breach.title,
  email: finding?.email,
  domain: domainOf(finding),
});

/** Such as "212 open critical findings of PayrollPro at demo.example". */
export function inWords(filters: Filters, total: number, names: Names): string {
  const { acknowledged, severity, breachId, domainId, emailId, scanId } = filters;
  const kind = [
    acknowledged !== undefined && (acknowledged === "true" ? "acknowledged" : "open"),
    severity?.replaceAll(",", " or "),
    "finding",
  ].filter((word) => word);
  return [
    count(total, kind.join(" ")),
    breachId !== undefined && `of ${names.breach ?? "one breach"}`,
    emailId !== undefined && `of ${names.email ?? "one address"}`,
    domainId !== undefined && `at ${names.domain ?? "one domain"}`,
    scanId !== undefined && "first seen by one scan",
  ]
    .filter((part) => part !== false)
    .join(" ");
}

export const domainOf = (finding: Finding | undefined): string | undefined =>
  finding && inBothForms(finding.email.slice(finding.email.lastIndexOf("@") + 1));
