/** Organizations whose findings rules end, and what tests do to their facts. */
import { expect } from "vitest";
import { entries } from "../../../shared/access/activity/activity.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withOptimisticRetry } from "../../../shared/aws/table/optimistic-retry.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { announcement } from "../../../shared/findings/acknowledgements/follow.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import { type FindingRecord, findings, ruleOf } from "../../../shared/findings/record.ts";
import * as marks from "../../../shared/findings/rules/marks.ts";
import type { RuleId } from "../../../shared/findings/rules/rule-schema.ts";
import * as switches from "../../../shared/findings/rules/switches.ts";
import { type BreachDetails, breachOf } from "../../../shared/hibp/breach.ts";
import { emails, type Person } from "../../../shared/monitoring/emails/record.ts";
import { invocation } from "../../scanning/in-process-workers.ts";
import { readFindings, runWorkers, settle, somebody, sweepAt } from "../acknowledgements/findings.ts";

export const ada: Person = { name: "Ada Lovelace", directory: "Entra" };

/** What the directory does that says something new of a person. */
export const setPerson = (org: number, emailId: number, person: Person | undefined): Promise<void> =>
  withOptimisticRetry(async () => {
    const row = await emails.get(org, emailId);
    if (row === undefined) return;
    const from = emails.groupOf(row);
    const to = { ...from, directoryId: 1, hasLeft: person?.leftAt !== undefined };
    const change = person === undefined ? { remove: ["person"] } : { set: { person } };
    await table.transact([
      ...emails.writes(org, [emails.change(org, emailId, { from, to, ...change })]),
      ...marks.recheck(org, row),
    ]);
  });

/** What a sync of the catalog does. */
export const setBreach = async (org: number, id: number, details: Partial<BreachDetails>): Promise<void> => {
  await table.transact([announcement(org)]);
  await marks.recheckBreaches([id]);
  const breach = breachOf({
    name: `Breach${id}`,
    title: `Breach ${id}`,
    breachDate: "2026-01-31",
    ...details,
  });
  await table.put({ ...keys.breach(id), ...breach, id });
};

export const switchRule = (org: number, rule: RuleId, isOn: boolean): Promise<unknown> =>
  switches.change(org, rule, isOn, somebody);

/** Workers and sweeps, until nothing is left to look at. */
export const settleRules = async (org: number): Promise<void> => {
  for (let rounds = 0; ; rounds++) {
    expect(rounds).toBeLessThan(30);
    await settle(org);
    await work({ organizationId: org }, invocation());
    await runWorkers();
    await sweepAt(keys.rulesLock(org));
    await sweepAt(keys.acknowledgementLock(org));
    await runWorkers();
    const isAtWork = (await table.get(keys.rulesLock(org))) !== undefined;
    if (!isAtWork && (await marks.read(org, 1)).length === 0) return;
  }
};

/** The findings of an e-mail or a breach in the order of their ids. */
export const findingsOf = async (
  org: number,
  of: { emailId?: number; breachId?: number },
): Promise<FindingRecord[]> => {
  const rows = await readFindings(org);
  return rows
    .filter(({ emailId }) => of.emailId === undefined || emailId === of.emailId)
    .filter(({ breachId }) => of.breachId === undefined || breachId === of.breachId)
    .sort((one, other) => one.id - other.id);
};

/** `open`, the rule that has ended it, or `person`. */
export const stateOf = (row: FindingRecord): string => {
  const { acknowledged, endedBy } = findings.groupOf(row);
  expect(row.acknowledgment?.rule).toBe(ruleOf(endedBy));
  expect(acknowledged).toBe(row.acknowledgment !== undefined);
  return acknowledged ? (ruleOf(endedBy) ?? "person") : "open";
};

/** Oldest first. */
export const logOf = async (org: number): Promise<string[]> => {
  const { items } = await entries.page(org, { limit: 100, offset: 0 });
  return items
    .filter(({ action }) => ["findings.acknowledged", "findings.reopened"].includes(action))
    .map(({ summary, actor }) => `${actor.type}: ${summary}`)
    .reverse();
};
