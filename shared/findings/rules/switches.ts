/** Which rules of an organization are on. Each is off until somebody switches it on. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { asRead, type Condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { recheckAll, wake } from "./marks.ts";
import { type RuleId, rulesInOrder } from "./rule-schema.ts";

/** `changedAt`: ISO 8601. */
export type Switch = { isOn: boolean; changedAt: string };

/** `changes`: how often one of the rules was switched. */
type SwitchesRow = { changes?: number } & { [Rule in RuleId]?: Switch };

/** `asRead`: the condition on the row of `keys.rules` that no rule was switched since. */
export type Switches = {
  of: (rule: RuleId) => Switch | undefined;
  on: ReadonlySet<RuleId>;
  asRead: Condition;
};

export const read = async (org: number): Promise<Switches> => {
  const row = (await table.get<SwitchesRow>(keys.rules(org))) ?? {};
  return {
    of: (rule) => row[rule],
    on: new Set(rulesInOrder.filter((rule) => row[rule]?.isOn)),
    asRead: asRead({ changes: row.changes }),
  };
};

/** As people name the rules. */
export const nameOf: Record<RuleId, string> = {
  left: "Left the company",
  password_changed: "Password changed",
  harmless: "Low severity",
};

/**
 * Switches a rule. One that is switched on ends findings that are there; one that is switched off reopens nothing.
 */
export const change = async (org: number, rule: RuleId, isOn: boolean, actor: Actor): Promise<Switch> => {
  const { changed, isNew } = await withOptimisticRetry(async () => {
    const switches = await read(org);
    const before = switches.of(rule);
    if (before?.isOn === isOn) return { changed: before, isNew: false };
    const slot = await activity.slot(org);
    const after: Switch = { isOn, changedAt: slot.createdAt };
    await table.transact([
      { update: keys.rules(org), set: { [rule]: after }, add: { changes: 1 }, if: switches.asRead },
      ...(isOn ? recheckAll(org) : []),
      ...activity.writes(org, slot, {
        action: "rule.updated",
        summary: `Switched ${isOn ? "on" : "off"} the rule "${nameOf[rule]}", which ends findings`,
        actor,
      }),
    ]);
    return { changed: after, isNew: true };
  });
  if (isNew && isOn) await wake(org, { isAtOnce: true });
  return changed;
};
