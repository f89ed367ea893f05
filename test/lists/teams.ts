import { chunk } from "../../shared/aws/table/chunk.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockSize, type Reserved, reserve } from "../../shared/lists/blocks.ts";
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

/** Adds blocks with one active e-mail each, and returns the ids of the e-mails, oldest first. */
export const addBlocks = async (org: number, blocks: number): Promise<number[]> => {
  const ids: number[] = [];
  for (const part of chunk(Array.from({ length: blocks }), 45)) {
    const all = await reserve(org, "EMAIL", part.length * blockSize);
    const reserved = part.map((_, index) => all[index * blockSize] as Reserved);
    await transact(
      org,
      reserved.map((each) => emails.put(org, each, active, { email: `${each.id}@example.test` })),
    );
    ids.push(...reserved.map(({ id }) => id));
  }
  return ids;
};

export const move = (org: number, ids: readonly number[], from: Group, to: Group): Promise<void> =>
  transact(
    org,
    ids.map((id) => emails.change(org, id, { from, to })),
  );
