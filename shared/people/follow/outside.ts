/** Addresses of directories that nobody watches, as their domain is not verified here: how many, by domain. */
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

type Row = Key & { count: number };

/** By how much a transaction changes each number. */
export class OutsideDomains {
  readonly moved = new Map<string, { directory: number; domain: string; by: number }>();

  add(directory: number, domain: string, by: number): void {
    const name = `${directory} ${domain}`;
    const before = this.moved.get(name)?.by ?? 0;
    this.moved.set(name, { directory, domain, by: before + by });
  }
}

/** The writes of a transaction that changes the numbers. They fail unless they are as they are read here. */
export const domainWrites = async (org: number, { moved }: OutsideDomains): Promise<Write[]> => {
  const changes = [...moved.values()].filter(({ by }) => by !== 0);
  if (changes.length === 0) return [];
  const counters = changes.map(({ directory, domain }) => keys.outsideDomain(org, directory, domain));
  const rows = await table.getMany<Row>(counters);
  return changes.map(({ by }, index): Write => {
    const key = counters[index] as Key;
    const before = rows[index]?.count;
    const count = (before ?? 0) + by;
    const isAsRead = before === undefined ? absent : asRead({ count: before });
    return count > 0 ? { put: { ...key, count }, if: isAsRead } : { delete: key, if: isAsRead };
  });
};

/** So many domains are counted, and as many are named. */
const mostDomains = 1_000;
const mostNamed = 20;

/**
 * The domains with the most such addresses of a directory, and how many domains there are, up to 1,000. Costs
 * a read unit for each 40 of them.
 */
export const domainsOf = async (
  org: number,
  directory: number,
): Promise<{ domains: { name: string; addresses: number }[]; total: number }> => {
  const { pk, sk: prefix } = keys.outsideDomain(org, directory, "");
  const rows = await table.query<Row>({ pk, prefix, limit: mostDomains });
  const domains = rows
    .map(({ sk, count }) => ({ name: sk.slice(prefix.length), addresses: count }))
    .sort((one, other) => other.addresses - one.addresses);
  return { domains: domains.slice(0, mostNamed), total: rows.length };
};
