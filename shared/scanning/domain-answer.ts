import type { Domain } from "../monitoring/domains/domain-row.ts";
import type { Email } from "../monitoring/emails/record.ts";
import * as catalog from "../monitoring/hibp/catalog.ts";

/**
 * What HIBP answered about a domain. "checked": `breachNames` holds the names of the breaches of each alias
 * (the part of an address before the @). "single": the subscription does not cover the domain, so its
 * addresses are looked up one by one. "failed": no answer.
 */
export type DomainAnswer = { domain: Domain } & (
  | { state: "checked"; breachNames: Map<string, string[]> }
  | { state: "single" | "failed" }
);

/** The ids of all breaches that the answers name, by name. */
export const breachIdsOf = (answers: readonly DomainAnswer[]): Promise<Map<string, number>> => {
  const names = new Set<string>();
  for (const answer of answers) {
    if (answer.state !== "checked") continue;
    for (const ofAlias of answer.breachNames.values()) for (const name of ofAlias) names.add(name);
  }
  return catalog.idsFor(names);
};

/** The ids of the breaches that an e-mail is in, as its domain's answer says. */
export const breachesOf = (
  row: Email,
  breachNames: ReadonlyMap<string, string[]>,
  ids: ReadonlyMap<string, number>,
): Set<number> => {
  const alias = row.email.slice(0, row.email.lastIndexOf("@"));
  return new Set(
    (breachNames.get(alias) ?? []).map((name) => ids.get(name)).filter((id) => id !== undefined),
  );
};
