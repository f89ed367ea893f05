import * as catalog from "../catalog/catalog.ts";
import type { Email } from "../emails/record.ts";
import type { Domain } from "../organizations/domain.ts";

/** A domain of a batch, and what is known of it: who is in which breaches; to be looked up one by one; or nothing. */
export type Answered = { domain: Domain } & (
  | { state: "checked"; names: Map<string, string[]> }
  | { state: "single" | "failed" }
);

/** The ids of the breaches that answers name. */
export const idsOf = (answered: readonly Answered[]): Promise<Map<string, number>> => {
  const names = new Set<string>();
  for (const each of answered) {
    if (each.state !== "checked") continue;
    for (const aliasNames of each.names.values()) for (const name of aliasNames) names.add(name);
  }
  return catalog.idsFor(names);
};

/** The breaches that a domain's answer says an e-mail is in. */
export const breachesOf = (
  row: Email,
  names: ReadonlyMap<string, string[]>,
  ids: ReadonlyMap<string, number>,
): Set<number> => {
  const alias = row.email.slice(0, row.email.lastIndexOf("@"));
  return new Set((names.get(alias) ?? []).map((name) => ids.get(name)).filter((id) => id !== undefined));
};
