/** What a rule would end if it was switched on now. */
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import { emails, type Person } from "../../monitoring/emails/record.ts";
import * as detailed from "../detailed.ts";
import { type FindingGroup, findings } from "../record.ts";
import { stateOf } from "./affected.ts";
import type { RulePreview } from "./preview-schema.ts";
import { holds } from "./rule.ts";
import type { RuleId } from "./rule-schema.ts";

const maximumExamples = 5;

/** Reads all open findings that the rule may end, and e-mails with a person. `open`: of the whole organization. */
export const preview = async (org: number, rule: RuleId): Promise<RulePreview> => {
  const now = new Date();
  const directory = await findings.directory(org);
  const mayEnd = ({ acknowledged, severity }: FindingGroup): boolean =>
    !acknowledged && (rule !== "harmless" || severity === levelOf("low"));
  const persons = rule === "harmless" ? new Map<number, Person>() : await personsOf(org, rule);
  let wouldEnd = 0;
  const newest: number[] = [];
  const blocks = rule !== "harmless" && persons.size === 0 ? [] : findings.blocks(directory, mayEnd);
  const project = ["id", "group", "emailId", "breachId", "isReopened"];
  for await (const rows of findings.membersOf(org, blocks, { project })) {
    const open = rows.filter((row) => {
      const isRelevant = rule === "harmless" || persons.has(row.emailId);
      return isRelevant && stateOf(row).is === "open";
    });
    const breaches = await breachDetails.current(open.map(({ breachId }) => breachId));
    for (const { id, emailId, breachId } of open) {
      const breach = breaches.get(breachId);
      if (breach === undefined) continue;
      if (holds(rule, { person: persons.get(emailId), breach }, now) === undefined) continue;
      wouldEnd++;
      newest.push(id);
      if (newest.length > maximumExamples) newest.shift();
    }
  }
  return {
    open: findings.sum(directory, ({ acknowledged }) => !acknowledged),
    wouldEnd,
    examples: await detailed.getMany(org, newest.toReversed()),
  };
};

const personsOf = async (org: number, rule: RuleId): Promise<Map<number, Person>> => {
  const isRelevant = ({ leftAt, passwordChangedAt }: Person): boolean =>
    (rule === "left" ? leftAt : passwordChangedAt) !== undefined;
  const blocks = emails.blocks(
    await emails.directory(org),
    ({ directoryId, hasLeft }) => directoryId !== null && (rule !== "left" || hasLeft),
  );
  const persons = new Map<number, Person>();
  for await (const rows of emails.membersOf(org, blocks, { project: ["id", "person"] })) {
    for (const { id, person } of rows)
      if (person !== undefined && isRelevant(person)) persons.set(id, person);
  }
  return persons;
};
