import { activeCount, quoteFor } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import * as domains from "../domains/domain.ts";
import type { Candidate } from "./extract.ts";
import { type ImportPlan, type ImportRow, importedAddress } from "./import-schema.ts";

/** What importing these addresses would do now: one row for each address, in their order, and the cost. */
export const plan = async (org: number, candidates: readonly Candidate[]): Promise<ImportPlan> =>
  (await planned(org, candidates)).plan;

/** The plan, and how many e-mails are active, which it rests on. */
export const planned = async (
  org: number,
  candidates: readonly Candidate[],
): Promise<{ plan: ImportPlan; active: number }> => {
  const parsed = candidates.map(({ email, ownerName, team }) => ({
    text: email,
    address: importedAddress.safeParse(email).data,
    ...(ownerName !== undefined && { ownerName }),
    ...(team !== undefined && { team }),
  }));
  const [owner, active, all, monitored] = await Promise.all([
    organizations.existing(org),
    activeCount(org),
    domains.list(org),
    monitoredOf(
      org,
      parsed.map(({ address }) => address).filter((address) => address !== undefined),
    ),
  ]);
  const verified = new Map(all.filter((domain) => domain.verified).map(({ name, id }) => [name, id]));

  const seen = new Set<string>();
  const rows = parsed.map(({ text, address, ...given }): ImportRow => {
    const domainId = address === undefined ? undefined : verified.get(domainOf(address));
    if (address === undefined || domainId === undefined) {
      return { email: address ?? text, domainId: null, status: "invalid", ...given };
    }
    const isRepeated = seen.has(address);
    seen.add(address);
    const isMonitored = monitored.has(address);
    const status = isRepeated ? "duplicate" : isMonitored ? "already_monitored" : "will_import";
    return { email: address, domainId, status, ...given };
  });
  const wanted = rows.filter(({ status }) => status === "will_import").length;
  return { plan: { emails: rows, quote: quoteFor(owner.billing, active, wanted) }, active };
};

/** The addresses that are monitored already, active or not. */
export const monitoredOf = async (org: number, addresses: readonly string[]): Promise<Set<string>> => {
  const rows = await table.getMany(addresses.map((address) => keys.address(org, address)));
  return new Set(addresses.filter((_, index) => rows[index] !== undefined));
};
