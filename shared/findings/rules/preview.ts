/** What a rule would end if it was switched on now. */
import { chunk } from "../../aws/table/chunk.ts";
import { allOf, asRead, type Condition } from "../../aws/table/condition.ts";
import * as counts from "../../counts/counts.ts";
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import { emails, openCount } from "../../monitoring/emails/record.ts";
import * as detailed from "../detailed.ts";
import { type FindingGroup, findings } from "../record.ts";
import { stateOf } from "./affected.ts";
import type { RulePreview } from "./preview-schema.ts";
import { holds } from "./rule.ts";
import type { RuleId } from "./rule-schema.ts";

const maximumExamples = 5;

/** Findings that are read, and blocks that are counted, at the same time. */
const findingsAtOnce = 800;
const blocksAtOnce = 16;

/** DynamoDB takes so many operands of IN. */
const maximumOperands = 100;

/** `newest`: ids of some of them. */
type WouldEnd = { wouldEnd: number; newest: number[] };

/** Counts low findings where they are, and reads those of people alone for whom the rule holds. */
export const preview = async (org: number, rule: RuleId): Promise<RulePreview> => {
  const tally = await findings.tally(org);
  const { wouldEnd, newest } = await (rule === "harmless" ? countLow(org, tally) : readOfPeople(org, rule));
  return {
    open: findings.sum(tally, ({ acknowledged }) => !acknowledged),
    wouldEnd,
    examples: await detailed.getMany(org, newest),
  };
};

const readOfPeople = async (org: number, rule: RuleId): Promise<WouldEnd> => {
  const now = new Date();
  const blocks = emails.blocks(
    await emails.tally(org),
    ({ directoryId, hasLeft, exposure }) =>
      directoryId !== null && exposure > 0 && (rule !== "left" || hasLeft),
  );
  const { byLevel } = await counts.read(org);
  const catalog = await breachDetails.current(byLevel.keys());
  const result: WouldEnd = { wouldEnd: 0, newest: [] };
  const project = ["id", "group", "findings", "person", "open1", "open2", "open3", "open4"];
  for await (const rows of emails.membersOf(org, blocks, { project })) {
    const ids = rows.flatMap((email) => {
      if (email.person === undefined || openCount(email) === 0) return [];
      const { person } = email;
      return Object.entries(email.findings)
        .filter(([breachId]) => isHeld(rule, catalog.get(Number(breachId)), person, now))
        .map(([, id]) => id);
    });
    for (const some of chunk(ids, findingsAtOnce)) {
      const read = await findings.getMany(org, some);
      const open = read.filter((row) => row !== undefined).filter((row) => stateOf(row).is === "open");
      result.wouldEnd += open.length;
      result.newest = newestOf([...result.newest, ...open.map(({ id }) => id)]);
    }
  }
  return result;
};

type Person = Parameters<typeof holds>[1]["person"];

const isHeld = (rule: RuleId, breach: Breach | undefined, person: Person, now: Date): boolean =>
  breach !== undefined && holds(rule, { person, breach }, now) !== undefined;

const newestOf = (ids: readonly number[]): number[] =>
  ids.toSorted((one, other) => other - one).slice(0, maximumExamples);

/** Blocks are counted by DynamoDB, because a large organization has many low findings. */
const countLow = async (
  org: number,
  tally: Awaited<ReturnType<typeof findings.tally>>,
): Promise<WouldEnd> => {
  const isLow = ({ acknowledged, severity }: FindingGroup): boolean =>
    !acknowledged && severity === levelOf("low");
  const { byLevel } = await counts.read(org);
  const ofLow = [...byLevel].filter(([, levels]) => levels.has(levelOf("low"))).map(([id]) => id);
  const catalog = await breachDetails.current(ofLow);
  const now = new Date();
  const others = ofLow.filter((id) => !isHeld("harmless", catalog.get(id), undefined, now));
  const where = allOf(asRead({ isReopened: undefined }), without(others)) as Condition;
  const blocks = findings.blocks(tally, isLow).toReversed();
  const groupKeys = new Map(
    tally.map(({ block, counts: ofBlock }) => [
      block,
      [...ofBlock.keys()].filter((group) => isLow(findings.groupOf({ group }))),
    ]),
  );
  const result: WouldEnd = { wouldEnd: 0, newest: [] };
  for (const some of chunk(blocks, blocksAtOnce)) {
    const counted = await Promise.all(
      some.map((block) => findings.countMembers(org, block, groupKeys.get(block), where)),
    );
    for (const [index, count] of counted.entries()) {
      result.wouldEnd += count;
      const block = some[index];
      if (count === 0 || block === undefined || result.newest.length === maximumExamples) continue;
      const rows = await findings.members(org, block, { where, project: ["id", "group"] });
      const low = rows.filter((row) => isLow(findings.groupOf(row))).map(({ id }) => id);
      result.newest = newestOf([...result.newest, ...low]);
    }
  }
  return result;
};

/** Of a breach that is low by default the rule does not hold. */
const without = (breachIds: readonly number[]): Condition | undefined =>
  allOf(
    ...[...chunk(breachIds, maximumOperands)].map((ids): Condition => {
      const values = Object.fromEntries(ids.map((id) => [`breach${id}`, id]));
      const names = Object.keys(values).map((name) => `:${name}`);
      return { expression: `NOT #breachId IN (${names.join(",")})`, values };
    }),
  );
