/**
 * Proof of a domain by its DNS record: looked up when somebody asks, and by the sweep once a day.
 * docs/flows/domain-proof.md
 */
import dns from "node:dns/promises";
import type { Logger } from "@aws-lambda-powertools/logger";
import { type Actor, service } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { asRead } from "../../aws/table/condition.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as domains from "./domain.ts";
import { decide } from "./proof-decision.ts";
import { isProof, mistakenNames, recordOf } from "./proof-record.ts";

/** Bounds of what a reply shows of other people's records. */
const maximumShown = { values: 20, characters: 512 };

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
const lookUpRecord = async (name: string, withinMilliseconds = deadlineMilliseconds): Promise<string[]> => {
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
const mistakenName = async (domain: domains.Domain): Promise<string | undefined> => {
  const names = mistakenNames(domain);
  const values = await Promise.all(
    names.map((name) => lookUpRecord(name, mistakesMilliseconds).catch((): string[] => [])),
  );
  return names.find((_, index) => isProof(domain, values[index] ?? []));
};

/**
 * Looks a domain's record up now. `found`: the values of the TXT records at its name. `foundAt`: another name
 * at which the record stands by mistake. Refuses `domainNotFound`; and `dnsUnavailable`, which changes
 * nothing. Refuses `domainTaken` when another organization has proved the name and its record is still there.
 */
export const check = async (
  org: number,
  id: number,
  actor: Actor,
): Promise<{ isVerified: boolean; found: string[]; foundAt?: string }> => {
  const domain = await domains.get(org, id);
  if (domain === undefined) throw new Refusal("domainNotFound");
  const values = await lookUpRecord(recordOf(domain).name);
  const at = new Date().toISOString();
  const isVerified = await withOptimisticRetry(() => decide(org, id, { values, at, actor }));
  const foundAt = isVerified ? undefined : await mistakenName(domain);
  return {
    isVerified,
    ...(foundAt !== undefined && { foundAt }),
    found: values
      .slice(0, maximumShown.values)
      .map((value) => value.slice(0, maximumShown.characters).toWellFormed()),
  };
};

/** In seconds: how often a record is looked up, and how long it may be missing. */
export type ProofIntervals = { daySeconds: number; lossSeconds: number };

/** DNS that did not answer is asked again after this part of a day. */
const retriesPerDay = 24;

/** The look-up of a domain whose last one is a day ago. */
export const recheck = async (
  key: Key,
  { daySeconds, lossSeconds }: ProofIntervals,
  logger: Logger,
): Promise<void> => {
  const org = organizationOf(key);
  // A function that may not write domains could make another row due that names a domain.
  if (key.pk !== keys.domain(org, 0).pk) return;
  const [owner, domain] = await Promise.all([organizations.get(org), table.get<domains.Domain>(key)]);
  // The organization's deletion deletes the row.
  if (owner === undefined || owner.deleting === true || domain === undefined) return;
  try {
    const values = await lookUpRecord(recordOf(domain).name);
    const lookUp = { values, at: new Date().toISOString(), lossSeconds, actor: service };
    await withOptimisticRetry(() => decide(org, domain.id, lookUp));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.refusal === "dnsUnavailable") {
      const dueAt = new Date(Date.now() - daySeconds * 1_000 * (1 - 1 / retriesPerDay)).toISOString();
      await table.attempt(table.update(key, { set: { dueAt }, if: asRead({ dueAt: domain.dueAt }) }));
    }
    logger.info("a domain's proof was not decided", {
      organizationId: org,
      domainId: domain.id,
      refusal: error.refusal,
    });
  }
};
