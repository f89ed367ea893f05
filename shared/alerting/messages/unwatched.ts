/**
 * What a message says of addresses that nobody watches. It has numbers, and names none of them: the dashboard does.
 */
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf, severityAt } from "../../hibp/severity.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import * as ofScan from "../../monitoring/unwatched/of-scan.ts";

/** How many addresses got a new breach. `isAtMost`: several scans found them, and some may count twice. */
export type Unwatched = {
  count: number;
  isAtMost: boolean;
  /** All of them are in this breach, which is what the message is about. */
  breachId: number | undefined;
};

/** Such addresses in breaches of high severity or above, of scans that found nothing else. */
export type UnwatchedReport = {
  kind: "unwatched";
  severity: Severity;
  count: number;
  /** Others, whose new breaches are less severe. */
  others: number;
  isAtMost: boolean;
  /** Worst first, without those that the channel must not name, with how many of the addresses are in each. */
  breaches: (Breach & { addresses: number })[];
  /** How many breaches the channel must not name. */
  sensitive: number;
  scanId: number | undefined;
};

/** What a message about findings adds. `breachIds`: of the breaches that it is about. Undefined: nothing. */
export const besides = (
  { news, first, byBreach, scanCount }: ofScan.Found,
  least: number,
  breachIds: readonly number[],
): Unwatched | undefined => {
  const count = ofScan.countFrom(news, least) + ofScan.countFrom(first, least);
  const [only, another] = breachIds;
  const isAllInOnly = only !== undefined && another === undefined && byBreach.get(only) === count;
  return count === 0
    ? undefined
    : { count, isAtMost: scanCount > 1, breachId: isAllInOnly ? only : undefined };
};

/** The message of scans that found nothing else. */
export const readUnwatched = async (
  { news, byBreach, scanCount }: ofScan.Found,
  { least, isDiscreet, scanId }: { least: number; isDiscreet: boolean; scanId: number | undefined },
): Promise<UnwatchedReport> => {
  const details = await breachDetails.details(byBreach.keys());
  const breaches = [...byBreach].flatMap(([id, addresses]) => {
    const breach = details.get(id);
    return breach !== undefined && levelOf(breach.severity) >= least ? [{ ...breach, addresses }] : [];
  });
  const named = breaches.filter(({ isSensitive }) => !(isDiscreet && isSensitive));
  const count = ofScan.countAlarming({ news }, least);
  return {
    kind: "unwatched",
    severity: severityAt(Math.max(...news.keys())),
    count,
    others: ofScan.countFrom(news, least) - count,
    isAtMost: scanCount > 1,
    breaches: named.sort(
      (one, other) => levelOf(other.severity) - levelOf(one.severity) || other.addresses - one.addresses,
    ),
    sensitive: breaches.length - named.length,
    scanId,
  };
};
