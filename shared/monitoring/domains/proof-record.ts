/** The DNS record that proves a domain, and what name servers say of it. proof.ts says what that means. */
import dns from "node:dns/promises";
import { Refusal } from "../../contract/errors.ts";
import type { Domain } from "./domain-row.ts";

const host = "_breach-monitor";

/** The TXT record that the domain must have. */
export const recordOf = (
  domain: Pick<Domain, "name" | "proofToken">,
): { type: "TXT"; name: string; value: string } => ({
  type: "TXT",
  name: `${host}.${domain.name}`,
  value: `breach-monitor=${domain.proofToken}`,
});

/**
 * Whether the values of TXT records hold the domain's. Forms of DNS providers and people add quotes, white space
 * and words to it, and change its case. A letter or digit directly before or behind it makes another value.
 */
export const isProof = (domain: Pick<Domain, "name" | "proofToken">, values: readonly string[]): boolean => {
  const { value } = recordOf(domain);
  const written = new RegExp(`(?<![a-z0-9])${[...value].join("[^a-z0-9=-]*")}(?![a-z0-9])`);
  return values.some((each) => written.test(each.toLowerCase()));
};

/** How many labels a domain has more than its zone, at most. */
const maximumZones = 3;

/**
 * The names under which the record is found when it was entered wrongly: with the zone added by the
 * provider's form, or in a parent's zone without the domain's own labels. It may also lack the underscore, or
 * stand at the domain itself.
 */
export const mistakenNames = ({ name }: Pick<Domain, "name">): string[] => {
  const labels = name.split(".");
  const zones = labels
    .slice(0, -1)
    .map((_, index) => labels.slice(index).join("."))
    .slice(0, maximumZones);
  return [
    ...zones.map((zone) => `${host}.${name}.${zone}`),
    ...zones.slice(1).map((zone) => `${host}.${zone}`),
    `breach-monitor.${name}`,
    name,
  ];
};

/** After the look-up of the record itself, which may take 5 seconds of the endpoint's 10. */
const mistakesMilliseconds = 2_500;

/** It leaves time for the table within the endpoint's 10 seconds. */
const deadlineMilliseconds = 5_000;

const retryAfterSeconds = 30;

/** Answers of a name server that say: there is no such record. */
const absences: readonly (string | undefined)[] = [dns.NOTFOUND, dns.NODATA, dns.BADNAME];

/**
 * The values of the TXT records of a name, none if there are none. Refuses `dnsUnavailable` when the
 * name servers do not answer, or answer that they cannot tell.
 */
export const lookUpRecord = async (
  name: string,
  withinMilliseconds = deadlineMilliseconds,
): Promise<string[]> => {
  const resolver = new dns.Resolver({ timeout: 1_500, tries: 2 });
  resolver.setServers(nameServers());
  const timer = setTimeout(() => resolver.cancel(), withinMilliseconds);
  try {
    // A value longer than 255 bytes comes in several strings.
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(""));
  } catch (error) {
    if (absences.includes((error as NodeJS.ErrnoException).code)) return [];
    throw new Refusal("dnsUnavailable", { headers: { "Retry-After": String(retryAfterSeconds) } });
  } finally {
    clearTimeout(timer);
  }
};

/**
 * PROOF_NAME_SERVER: the server of a local run, as IP:port. Not set when deployed, where Lambda's
 * resolver is asked.
 */
const nameServers = (): readonly string[] => {
  const given = process.env.PROOF_NAME_SERVER ?? "";
  // A new resolver uses the system's servers; this process may have been given others.
  return given === "" ? dns.getServers() : [given];
};

/** The name under which the record stands by mistake, if any. Name servers that do not answer know of none. */
export const mistakenName = async (domain: Domain): Promise<string | undefined> => {
  const names = mistakenNames(domain);
  const values = await Promise.all(
    names.map((name) => lookUpRecord(name, mistakesMilliseconds).catch((): string[] => [])),
  );
  return names.find((_, index) => isProof(domain, values[index] ?? []));
};
