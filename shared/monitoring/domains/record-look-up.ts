import dns from "node:dns/promises";
import { Refusal } from "../../contract/errors.ts";

/** It leaves time for the table within the endpoint's 10 seconds. */
const deadlineMilliseconds = 5_000;

const retryAfterSeconds = 30;

/** Answers of a name server that say: there is no such record. */
const absences: readonly (string | undefined)[] = [dns.NOTFOUND, dns.NODATA, dns.BADNAME];

/**
 * The values of the TXT records of a name, none if there are none. Refuses `dnsUnavailable` when the name servers do not answer, or
 * answer that they cannot tell.
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

/** PROOF_NAME_SERVER: the server of a local run, as IP:port. Not set when deployed, where Lambda's resolver is asked. */
const nameServers = (): readonly string[] => {
  const given = process.env.PROOF_NAME_SERVER ?? "";
  // A new resolver uses the system's servers; this process may have been given others.
  return given === "" ? dns.getServers() : [given];
};
