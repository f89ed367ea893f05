/** What the activity log says of what rules did: one entry for a rule and run, never one for each finding. */
import { service } from "../../access/activity/actor.ts";
import type { RuleId } from "./rule-schema.ts";
import { nameOf } from "./switches.ts";

/** `ended` as what: a rule has one resolution. */
const resolutionOf: Record<RuleId, string> = {
  left: "ignored",
  password_changed: "handled",
  harmless: "ignored",
};

/** `where`: whose findings, such as " of scan 12". */
export const entryOfRule = (rule: RuleId, what: "ended" | "reopened", count: number, where = "") => {
  const howMany = `${count} breach ${count === 1 ? "finding" : "findings"}`;
  return what === "ended"
    ? ({
        action: "findings.acknowledged",
        summary: `Rule "${nameOf[rule]}" ended ${howMany}${where} as ${resolutionOf[rule]}`,
        actor: service,
      } as const)
    : ({
        action: "findings.reopened",
        summary: `Reopened ${howMany}, for which the rule "${nameOf[rule]}" does not hold any more`,
        actor: service,
      } as const);
};
