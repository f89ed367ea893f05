import { chunk } from "../../shared/aws/table/chunk.ts";
import * as table from "../../shared/aws/table/table.ts";
import { countedList } from "../../shared/lists/counted-list.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";

/** A list for tests: e-mails that belong to a team and are active or disabled. */
export type Group = { team: number; isActive: boolean };
export const emails = countedList<Group, { email: string }>("EMAIL", {
  team: "integer",
  isActive: "boolean",
});

export const active: Group = { team: 1, isActive: true };
export const disabled: Group = { team: 1, isActive: false };

export const transact = async (org: number, writes: readonly MemberWrite[]): Promise<void> => {
  for (const part of chunk(writes, 45)) await table.transact(emails.writes(org, part));
};

export const move = (org: number, ids: readonly number[], from: Group, to: Group): Promise<void> =>
  transact(
    org,
    ids.map((id) => emails.change(org, id, { from, to })),
  );
