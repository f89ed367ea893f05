/** Findings whose state is not the one that rules give them, e-mail by e-mail. */
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { blockOf, firstIdOf } from "../../lists/blocks.ts";
import { type Email, emails, openCount, type Person } from "../../monitoring/emails/record.ts";
import { type FindingRecord, findings, ruleOf } from "../record.ts";
import { firstHolding, judge, type State, type Verdict } from "./rule.ts";
import type { RuleId } from "./rule-schema.ts";

/** Which findings are looked at: those of e-mails, of breaches, or all. */
export type Scope = { emailIds: number[]; breachIds: number[]; isWhole: boolean };

/** `person`: the facts by which it was judged. */
export type Affected = { row: FindingRecord; person: Person | undefined; verdict: Verdict };

/**
 * E-mails with ids above the last window's and up to `upTo`. `email`: those that are looked at, with their
 * findings.
 */
type Window = { looked: { email: LookedAt; rows: FindingRecord[] }[]; upTo: number };

const attributes = ["id", "group", "findings", "person", "open1", "open2", "open3", "open4"] as const;
export type LookedAt = Pick<Email, (typeof attributes)[number]>;

/** Findings that are read at the same time. */
const findingsPerWindow = 400;

/** E-mails that are read at the same time, where they are named. */
const emailsPerWindow = 100;

/** What rules have to do with a finding, by its row. */
export const stateOf = (row: Pick<FindingRecord, "group" | "isReopened">): State => {
  const { acknowledged, endedBy } = findings.groupOf(row);
  const rule = ruleOf(endedBy);
  if (acknowledged) return rule === undefined ? { is: "theirs" } : { is: "ended", rule };
  return row.isReopened ? { is: "theirs" } : { is: "open" };
};

/**
 * A reader of windows behind an e-mail id; undefined behind the last. It reads the findings of an e-mail that
 * rules may end, and where `hasEnded` those that they have ended.
 */
export const readerOf = async (
  org: number,
  scope: Scope,
): Promise<(cursor: number, isOn: ReadonlySet<RuleId>) => Promise<Window | undefined>> => {
  const isNamed = !scope.isWhole && scope.breachIds.length === 0;
  const [emailTally, findingTally] = isNamed
    ? [[], []]
    : await Promise.all([emails.tally(org), findings.tally(org)]);
  const blocks = emails.blocks(emailTally);
  const ended = new Set(findings.blocks(findingTally, ({ endedBy }) => endedBy !== 0));
  const named = new Set(scope.emailIds);
  const breachIds = new Set(scope.breachIds);
  const ids = scope.emailIds.toSorted((one, other) => one - other);

  const readEmails = async (cursor: number): Promise<{ rows: LookedAt[]; upTo: number } | undefined> => {
    if (isNamed) {
      const some = ids.filter((id) => id > cursor).slice(0, emailsPerWindow);
      const upTo = some.at(-1);
      if (upTo === undefined) return undefined;
      const rows = await emails.getMany(org, some);
      return { rows: rows.filter((row) => row !== undefined), upTo };
    }
    const block = blocks.find((each) => firstIdOf(each + 1) - 1 > cursor);
    if (block === undefined) return undefined;
    const fromId = Math.max(firstIdOf(block), cursor + 1);
    const upTo = firstIdOf(block + 1) - 1;
    return { rows: await emails.members(org, block, { fromId, toId: upTo, project: attributes }), upTo };
  };

  const catalog = new Map<number, Breach>();
  const learn = async (rows: readonly LookedAt[]): Promise<void> => {
    const unknown = new Set(rows.flatMap((row) => Object.keys(row.findings).map(Number)));
    for (const id of catalog.keys()) unknown.delete(id);
    for (const [id, breach] of await breachDetails.current(unknown)) catalog.set(id, breach);
  };

  return async (cursor, isOn) => {
    const found = await readEmails(cursor);
    if (found === undefined) return undefined;
    if (!isNamed) await learn(found.rows);
    const now = new Date();
    const looked: { email: LookedAt; ids: number[] }[] = [];
    let count = 0;
    let { upTo } = found;
    for (const email of found.rows) {
      const isAll = scope.isWhole || named.has(email.id);
      const pairs = Object.entries(email.findings).map(([breach, id]) => ({ breachId: Number(breach), id }));
      const wanted = pairs.filter(({ breachId, id }) => {
        if (named.has(email.id)) return true;
        if (!isAll && !breachIds.has(breachId)) return false;
        if (ended.has(blockOf(id))) return true;
        const breach = catalog.get(breachId);
        return (
          openCount(email) > 0 &&
          breach !== undefined &&
          firstHolding({ person: email.person, breach }, isOn, now) !== undefined
        );
      });
      if (wanted.length === 0) continue;
      if (count > 0 && count + wanted.length > findingsPerWindow) {
        upTo = email.id - 1;
        break;
      }
      count += wanted.length;
      looked.push({ email, ids: wanted.map(({ id }) => id) });
    }
    const rows = await findings.getMany(
      org,
      looked.flatMap((each) => each.ids),
    );
    const byEmail = Map.groupBy(
      rows.filter((row) => row !== undefined),
      ({ emailId }) => emailId,
    );
    return { looked: looked.map(({ email }) => ({ email, rows: byEmail.get(email.id) ?? [] })), upTo };
  };
};

/** The verdicts on the findings of a window, without those that stay as they are. */
export const judged = async (window: Window, isOn: ReadonlySet<RuleId>): Promise<Affected[]> => {
  const now = new Date();
  const all = window.looked.flatMap(({ rows }) => rows);
  const catalog = await breachDetails.current(all.map(({ breachId }) => breachId));
  return window.looked.flatMap(({ email, rows }) =>
    rows.flatMap((row): Affected[] => {
      const breach = catalog.get(row.breachId);
      if (breach === undefined) return [];
      const { person } = email;
      const verdict = judge(stateOf(row), { person, breach }, isOn, now);
      return verdict.is === "kept" ? [] : [{ row, person, verdict }];
    }),
  );
};
