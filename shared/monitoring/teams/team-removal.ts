/**
 * Deletion of a team, which leaves its e-mails without a team. The team is deleted first, so that no e-mail can be added to it; then
 * its e-mails are moved, many to a transaction. A due row lets the sweep continue where that was interrupted. The row stays
 * afterwards and says that the team was deleted.
 */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { inTransactions } from "../../aws/table/budget.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { condition } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { type Email, type EmailGroup, emails } from "../emails/record.ts";
import * as teams from "./team.ts";

/** Time for the request to finish; after it the sweep takes over. */
const leaseMilliseconds = 60_000;

/** For this long a request moves e-mails; the sweep moves the rest. */
const requestMilliseconds = 4_000;

/** Blocks whose e-mails are moved at the same time. */
const concurrency = 8;

/** Deletes a team; deleting it again succeeds and is not logged. Refuses `teamNotFound`. */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const endsAt = Date.now() + requestMilliseconds;
  const isNew = await withOptimisticRetry(async () => {
    const [team, removal] = await Promise.all([teams.get(org, id), table.get(keys.teamRemoval(org, id))]);
    if (team === undefined && removal === undefined) throw new Refusal("teamNotFound");
    if (team === undefined) return false;
    const slot = await activity.slot(org);
    await table.transact([
      { delete: keys.team(org, id), if: condition("#name = :name", { name: team.name }) },
      teams.releaseName(org, team),
      {
        put: {
          ...keys.teamRemoval(org, id),
          removedAt: slot.createdAt,
          dueShard: dueShard("TEAM-REMOVAL", id),
          dueAt: new Date(Date.now() + leaseMilliseconds).toISOString(),
        },
      },
      ...activity.writes(org, slot, {
        action: "team.deleted",
        summary: `Deleted the team ${team.name}`,
        actor,
      }),
    ]);
    return true;
  });
  if (!isNew) return;
  // The team is deleted even if this fails: the sweep moves the rest, and reports an error that persists.
  await moveEmails(org, id, () => Date.now() < endsAt).catch(() => {});
};

/** Continues a deletion that was interrupted. Does nothing if it has ended. */
export const resume = async (org: number, id: number, mayGoOn: () => boolean): Promise<void> => {
  const removal = await table.get<{ dueAt?: string }>(keys.teamRemoval(org, id));
  if (removal?.dueAt !== undefined) await moveEmails(org, id, mayGoOn);
};

const moveEmails = async (org: number, team: number, mayGoOn: () => boolean): Promise<void> => {
  const isOfTeam = (group: EmailGroup) => group.teamId === team;
  const blocks = emails.blocks(await emails.directory(org), isOfTeam);
  for (const some of chunk(blocks, concurrency)) {
    if (!mayGoOn()) return;
    await Promise.all(some.map((block) => withOptimisticRetry(() => moveBlock(org, block, isOfTeam))));
  }
  await table.attempt(
    table.update(keys.teamRemoval(org, team), {
      remove: ["dueShard", "dueAt"],
      if: condition("attribute_exists(#pk)"),
    }),
  );
};

/** Throws `TransactionRefused` when an e-mail was moved or removed after it was read. */
const moveBlock = async (
  org: number,
  block: number,
  isOfTeam: (group: EmailGroup) => boolean,
): Promise<void> => {
  const rows: Pick<Email, "id" | "group">[] = await emails.members(org, block, { project: ["id", "group"] });
  const mine = rows.filter((row) => isOfTeam(emails.groupOf(row)));
  const changes = mine.map((row) => {
    const from = emails.groupOf(row);
    return emails.change(org, row.id, { from, to: { ...from, teamId: null } });
  });
  for (const some of inTransactions(changes, (change) => emails.writes(org, [change]))) {
    await table.transact(emails.writes(org, some));
  }
};
