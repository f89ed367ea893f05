import * as table from "../../aws/table/table.ts";
import * as activity from "./activity.ts";
import type { Actor } from "./actor.ts";

/** What the rows of each list are called. */
const nouns = {
  findings: ["finding", "findings"],
  emails: ["e-mail", "e-mails"],
  activity: ["entry of the activity log", "entries of the activity log"],
} as const;

/**
 * Logs that somebody has made a file of a list. `about`: the filters in words, which end with a space, or nothing.
 */
export const recordExport = async (
  org: number,
  { list, rows }: { list: keyof typeof nouns; rows: number },
  about: Promise<string>,
  actor: Actor,
): Promise<void> => {
  const [words, slot] = await Promise.all([about, activity.slot(org)]);
  const [one, several] = nouns[list];
  await table.transact(
    activity.writes(org, slot, {
      action: `${list}.exported`,
      summary: `Exported ${rows} ${rows === 1 ? one : several} ${words}as CSV`,
      actor,
    }),
  );
};
