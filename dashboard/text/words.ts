/** Numbers and facts in words. */

const numberFormat = new Intl.NumberFormat("en");

/** Such as "1,204". */
export const number = (value: number): string => numberFormat.format(value);

/** Such as "1 finding", "1,204 findings". */
export const count = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

/** Such as "1 address", "1,204 addresses". */
export const addresses = (value: number): string => count(value, "address", "addresses");

/** Such as "12.00": the contract names no currency. */
export const money = (cents: number): string =>
  (cents / 100).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export type Coverage = { checked: number; failed: number; stale: number; skipped: number };

/** What a scan covered, such as "998 of 1,000 checked, 2 could not be: 2 are on unverified domains." */
export function coverageInWords({ checked, failed, stale, skipped }: Coverage): string {
  const missed = failed + stale + skipped;
  const all = checked + missed;
  if (all === 0) return "There was nothing to check.";
  if (missed === 0) return all === 1 ? "The only address was checked." : `All ${number(all)} checked.`;
  const reasons = [
    failed > 0 && `${number(failed)} failed and will be checked again by the next scan`,
    stale > 0 && `${number(stale)} ${stale === 1 ? "was" : "were"} not reached and keep an earlier result`,
    skipped > 0 && `${number(skipped)} ${skipped === 1 ? "is" : "are"} on unverified domains`,
  ].filter((reason) => reason !== false);
  return `${number(checked)} of ${number(all)} checked, ${number(missed)} could not be: ${reasons.join("; ")}.`;
}
