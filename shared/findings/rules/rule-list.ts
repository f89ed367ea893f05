/** The rules of an organization, with what they have ended. */
import * as news from "../../counts/news.ts";
import { endedByOf, findings } from "../record.ts";
import { type Ender, enders, type Rule, type RuleId, rulesInOrder } from "./rule-schema.ts";
import * as switches from "./switches.ts";

/** Reads the tally of findings, and the news of the last days. */
export const list = async (org: number, now: Date): Promise<Rule[]> => {
  const [of, tally, { ended }] = await Promise.all([
    switches.read(org),
    findings.tally(org),
    news.read(org, now),
  ]);
  return rulesInOrder.map((id) => {
    const code = endedByOf({ rule: id });
    const { isOn = false, changedAt = null } = of.of(id) ?? {};
    const total = findings.sum(tally, ({ endedBy }) => endedBy === code);
    return { id, isOn, changedAt, ended: { total, lastWeek: ended.get(code) ?? 0 } };
  });
};

/** How many findings each rule has ended lately, from the news (counts/news.ts). */
export const endedLately = (ended: ReadonlyMap<number, number>): Record<Exclude<Ender, "person">, number> => {
  const countOf = (ender: Ender): number =>
    rulesInOrder.includes(ender as RuleId) ? (ended.get(endedByOf({ rule: ender as RuleId })) ?? 0) : 0;
  return Object.fromEntries(
    enders.filter((ender) => ender !== "person").map((ender) => [ender, countOf(ender)]),
  ) as Record<Exclude<Ender, "person">, number>;
};
