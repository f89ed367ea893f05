import * as table from "../../../shared/aws/table/table.ts";
import { type Coverage, noSearchInWords, storedCoverage } from "../../../shared/hibp/subscription-state.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { noSearchOfDomain, verifiedFor } from "../../../shared/monitoring/domains/domain-list.ts";
import { domainName } from "../../../shared/monitoring/domains/domain-schema.ts";
import {
  provenDomain,
  setVerified as setVerifiedByOperator,
} from "../../../shared/monitoring/domains/proof.ts";
import { refusalOf } from "../../../shared/monitoring/domains/refused-names.ts";
import type { Command, Commands, Flags } from "../command.ts";
import type { Stack } from "../connect.ts";
import { CommandError } from "../error.ts";
import { findOrganization, notFound, parse, parseId } from "../flags.ts";

const setVerified = (verified: boolean, about: string): Command => ({
  about,
  flags: { org: "required ID", domain: "required ID", ...(verified && { force: "switch" as const }) },
  isAct: true,
  run: async (flags, stack) => {
    const { id: org } = await findOrganization(flags);
    const id = parseId("domain", flags);
    const domain = verified ? await domains.get(org, id) : undefined;
    if (domain !== undefined) await expectNotVerifiedElsewhere(org, domain.name, flags, stack);
    try {
      await setVerifiedByOperator(org, id, verified);
    } catch (error) {
      // The domain does not exist. A refused transaction is something else: others kept changing the domain.
      throw error instanceof table.ConditionFailed ? notFound("domain", id) : error;
    }
    return { id, verified };
  },
});

/**
 * One domain is rarely two organizations'. Local runs are exempt: one developer gives many organizations the
 * same domain to try things.
 */
const expectNotVerifiedElsewhere = async (
  org: number,
  name: string,
  { force }: Flags,
  { isLocal }: Stack,
): Promise<void> => {
  if (force !== undefined) return;
  const proven = await provenDomain(name);
  const whose =
    proven?.organizationId ?? (isLocal ? undefined : (await verifiedFor(name)).find((id) => id !== org));
  if (whose === undefined || whose === org) return;
  const how = proven === undefined ? "verified" : "proved by a DNS record";
  throw new CommandError(
    `${name} is ${how} to be organization ${whose}'s; --force verifies it for organization ${org} all the same.`,
  );
};

export const domainCommands: Commands = {
  "domain add": {
    about:
      "Adds a domain; addresses of it can be monitored once it is verified. Public suffixes and " +
      "providers of mailboxes need --force, and with --verified names of another organization.",
    flags: { org: "required ID", name: "required NAME", verified: "switch", force: "switch" },
    isAct: true,
    run: async (flags, stack) => {
      const { id: org } = await findOrganization(flags);
      const name = parse("name", domainName, flags.name);
      const refusal = flags.force === undefined ? refusalOf(name) : undefined;
      if (refusal !== undefined) {
        throw new CommandError(`--name: ${name} ${refusal}; --force adds it all the same.`);
      }
      if (flags.verified !== undefined) await expectNotVerifiedElsewhere(org, name, flags, stack);
      const domain = await domains.create(org, { name, verified: flags.verified !== undefined });
      if (domain === "exists") {
        throw new CommandError(
          `The organization already has the domain ${name}: "domain list --org ${org}" shows it.`,
        );
      }
      return shown(domain);
    },
  },
  "domain verify": setVerified(true, "Says that a domain is the organization's."),
  "domain unverify": setVerified(
    false,
    "Says that a domain is no longer the organization's: its addresses are not scanned.",
  ),
  "domain list": {
    about: "Lists the domains, newest first, with whether and why not HIBP searches them whole.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const all = await domains.list(org);
      const coverage = await storedCoverage(all.map(({ name }) => name));
      return {
        domains: all
          .map((domain) => ({ ...shown(domain), scannedBy: scannedBy(domain, coverage) }))
          .reverse(),
      };
    },
  },
};

const scannedBy = (domain: domains.Domain, coverage: Coverage): string => {
  if (!domain.verified) return "nothing: not verified";
  const reason = noSearchOfDomain(domain, coverage);
  if (reason !== undefined) return `address by address: ${noSearchInWords[reason]}`;
  return coverage.listed.has(domain.name) ? "domain search" : "domain search, if HIBP allows it";
};

const shown = ({ id, name, verified, createdAt }: domains.Domain) => ({ id, name, verified, createdAt });
