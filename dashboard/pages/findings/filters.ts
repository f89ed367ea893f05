import type { Reply } from "../../api/routes.ts";
import { scanName } from "../../components/choices.ts";
import type { Severity } from "../../components/severity.tsx";
import type { Query } from "../../place.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { type Ender, endedInWords } from "../../text/rules.ts";
import { count } from "../../text/words.ts";
import { isolated } from "../../translation.ts";

const names = [
  "acknowledged",
  "severity",
  "breachId",
  "domainId",
  "emailId",
  "scanId",
  "told",
  "endedBy",
] as const;

/** The filters of a list of findings, as the service has them. */
export type Filters = Partial<Record<(typeof names)[number], string>>;

/** The URL's values for open findings and for any state. The list opens on open findings. */
export const openOnes = "false";
export const anyState = "any";

export function filtersOf(query: Query): Filters {
  const given = names.flatMap((name) => (query[name] ? [[name, query[name]]] : []));
  const { acknowledged = openOnes, ...filters }: Filters = Object.fromEntries(given);
  // What people or a rule have ended has one state.
  return acknowledged === anyState || filters.endedBy ? filters : { acknowledged, ...filters };
}

/** The same for the body of a request, where ids are numbers. */
export const bodyOf = ({ acknowledged, severity, told, endedBy, ...ids }: Filters) => ({
  ...(endedBy && { endedBy: endedBy as Ender }),
  ...(told !== undefined && { told: told === "true" }),
  ...(acknowledged !== undefined && { acknowledged: acknowledged === "true" }),
  ...(severity !== undefined && { severity: severity.split(",") as Severity[] }),
  ...Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, Number(value)])),
});

/** The names of what filters have as ids, as far as they are known. */
export type Names = Partial<Record<"breach" | "email" | "domain" | "scan", string | undefined>>;

type Listed = Reply<"GET /dashboard/findings">;

/** As a list of findings tells them. */
export const namesOf = ({
  findings: [first],
  breach,
  scan,
}: Partial<Listed> & Pick<Listed, "findings">): Names => ({
  breach: first?.breach.title ?? breach?.title,
  email: first?.email,
  domain: first && inBothForms(first.email.slice(first.email.lastIndexOf("@") + 1)),
  scan: scan && scanName(scan),
});

const known = (name: string | undefined): string | undefined => name && isolated(name);

/** Such as "212 open critical findings of PayrollPro at demo.example". */
export function inWords(filters: Filters, total: number, names: Names): string {
  const { acknowledged, severity, breachId, domainId, emailId, scanId, told, endedBy } = filters;
  const kind = [
    acknowledged !== undefined && (acknowledged === "true" ? "acknowledged" : "open"),
    severity?.replaceAll(",", " or "),
    "finding",
  ].filter((word) => word);
  return [
    count(total, kind.join(" ")),
    breachId !== undefined && `of ${known(names.breach) ?? "one breach"}`,
    emailId !== undefined && `of ${known(names.email) ?? "one address"}`,
    domainId !== undefined && `at ${known(names.domain) ?? "one domain"}`,
    scanId !== undefined &&
      `first seen by ${names.scan === undefined ? "one scan" : `the scan of ${names.scan}`}`,
    endedBy && endedInWords(endedBy),
    told !== undefined && `whose owner was ${told === "true" ? "told" : "not told"}`,
  ]
    .filter((part) => part)
    .join(" ");
}
