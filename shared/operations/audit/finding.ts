import { absent, asRead, condition, exists } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { scans } from "../../scanning/record.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** Whether a finding counts as acknowledged exactly if it holds an acknowledgment. */
export const isAcknowledgmentRight = (row: Pick<FindingRecord, "group" | "acknowledgment">): boolean =>
  findings.groupOf(row).acknowledged === (row.acknowledgment !== undefined);

export const inspectAcknowledgment =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined || isAcknowledgmentRight(row)) return undefined;
    const from = findings.groupOf(row);
    const { acknowledgment } = row;
    return {
      says: from.acknowledged
        ? "it counts as acknowledged although it holds no acknowledgment"
        : "it counts as unacknowledged although it holds an acknowledgment",
      repair: () =>
        table.transact(
          findings.writes(org, [
            findings.change(org, id, {
              from,
              to: { ...from, acknowledged: acknowledgment !== undefined },
              if: asRead({ acknowledgment }),
            }),
          ]),
        ),
    };
  };

/** The scan that first detected a finding must exist. */
export const inspectFirstScan =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined) return undefined;
    const from = findings.groupOf(row);
    if (from.scanId === null || (await scans.get(org, from.scanId)) !== undefined) return undefined;
    return {
      says: `its scan ${from.scanId} is not there`,
      repair: () =>
        table.transact(
          findings.writes(org, [findings.change(org, id, { from, to: { ...from, scanId: null } })]),
        ),
    };
  };

/** A finding must be held by its e-mail or, while it is being deleted, by the removal of its e-mail. */
export const inspectHolder =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined) return undefined;
    const { emailId, breachId } = row;
    const [email, removal, address] = await Promise.all([
      emails.get(org, emailId),
      table.get<{ findings: number[] }>(keys.removal(org, emailId)),
      table.get<{ emailId: number }>(keys.address(org, row.email)),
    ]);
    const heldId = email?.findings[breachId];
    if (heldId === id || removal?.findings.includes(id)) return undefined;
    // The finding may have been deleted with its e-mail between the reads.
    if ((await findings.get(org, id)) === undefined) return undefined;

    const group = findings.groupOf(row);
    const remove = findings.delete(org, id, group);
    if (email === undefined) {
      const says = `its e-mail ${emailId} is not there`;
      if (address?.emailId === emailId) {
        return {
          says: `${says}, but its address row is`,
          advice: `The row of e-mail ${emailId} is lost: restore it from a backup of the table.`,
        };
      }
      return {
        says,
        repair: () =>
          table.transact([
            { check: emails.key(org, emailId), if: absent },
            ...findings.writes(org, [remove]),
          ]),
      };
    }
    if (heldId !== undefined) {
      return {
        says: `e-mail ${emailId} has another finding of breach ${breachId}: ${heldId}`,
        repair: () =>
          table.transact([
            {
              check: emails.key(org, emailId),
              if: condition(`#findings.#${breachId} = :held`, { held: heldId }),
            },
            { check: findings.key(org, heldId), if: exists },
            ...findings.writes(org, [remove]),
          ]),
      };
    }
    return {
      says: `e-mail ${emailId} does not hold it`,
      repair: () =>
        table.transact([
          {
            update: emails.key(org, emailId),
            set: { [`findings.${breachId}`]: id },
            add: {
              unacknowledged: group.acknowledged ? 0 : 1,
              gone: new Set(row.lastSeenAt === undefined ? [] : [breachId]),
            },
            if: condition(`attribute_not_exists(#findings.#${breachId})`),
          },
          {
            check: findings.key(org, id),
            if: asRead({ group: row.group, lastSeenAt: row.lastSeenAt }),
          },
        ]),
    };
  };
