import { type HibpServer, startHibpServer } from "../local/harness/hibp-server.ts";
import { addressOf, domainNames } from "./seed/addresses.ts";
import { breachCount, breachName, oldBreaches, upstreamBreach } from "./seed/breaches.ts";

/** Address to the names of its breaches. */
export type Accounts = Record<string, string[]>;

/** Accounts of the first addresses of a seeded table, each in so many breaches. */
export const accountsOfBreaches = (addresses: number, each: number): Accounts =>
  Object.fromEntries(
    Array.from({ length: addresses }, (_, index) => [
      addressOf(index),
      Array.from({ length: each }, (_, nth) => breachName(1 + ((index * 7 + nth) % oldBreaches))),
    ]),
  );

/** Starts an HIBP server that knows these accounts, and whose subscription covers the seeded domains. */
export const startUpstream = async (accounts: Accounts): Promise<HibpServer> =>
  Object.assign(await startHibpServer(), {
    accounts,
    catalog: Array.from({ length: breachCount }, (_, index) => upstreamBreach(index + 1)),
    covered: domainNames,
  });
