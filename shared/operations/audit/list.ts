import { chunk } from "../../aws/table/chunk.ts";
import { type Key, keys, type ListKind } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Member } from "../../lists/counted-list.ts";
import * as directories from "../../lists/directory.ts";
import type { Inspector } from "./inspector.ts";
import { type AuditedList, inspectBlock, wrongIn } from "./list-block.ts";
import { inspectHead } from "./list-head.ts";

export type ListAudit = {
  rows: number;
  blocks: number;
  /**
   * By group key: by how much the directory's counters exceed the members, as far as that is not repaired.
   */
  excess: Map<string, number>;
};

const always = ["id", "createdAt", "group"] as const;
type Always = (typeof always)[number];

/** How many blocks are read ahead. */
const concurrency = 4;

/**
 * How many of the latest blocks without counters are searched for members. Most belong to other
 * organizations.
 */
const maximumProbes = 2000;
const probesAtOnce = 16;

/**
 * Goes through a list, oldest block first, with a few blocks in memory. Compares the members of each block
 * with its counters, then the head row with the ids in use. `visit` gets the members of every block.
 */
export const auditList = async <M extends Member, Name extends keyof M & string>(
  org: number,
  list: AuditedList<M>,
  inspector: Inspector,
  options: {
    /** Attributes that `visit` reads besides `id`, `createdAt` and `group`. */
    attributes: readonly Name[];
    visit: (rows: Pick<M, Name | Always>[]) => Promise<void>;
    progress: (done: number, of: number) => void;
  },
): Promise<ListAudit> => {
  const { kind } = list;
  const project = [...new Set<string>([...always, ...options.attributes])];
  const directory = await directories.read(org, kind);
  const byNumber = new Map(directory.map((block) => [block.block, block]));
  const uncounted = await blocksWithoutCounters(org, kind, byNumber);
  const blocks = [...byNumber.keys(), ...uncounted].sort((one, other) => one - other);
  const expected = directory.reduce(
    (sum, { counts }) => sum + [...counts.values()].reduce((all, count) => all + count, 0),
    0,
  );

  const passed: ListAudit = { rows: 0, blocks: blocks.length, excess: new Map() };
  let latest = "";
  let highestId = 0;
  const reading: Promise<M[]>[] = [];
  const readAhead = (index: number): void => {
    const block = blocks[index];
    if (block === undefined) return;
    const members = list.members(org, block, { project });
    // Errors are thrown where this promise is awaited, and not as unhandled rejections.
    members.catch(() => {});
    reading[index] = members;
  };
  for (let index = 0; index < concurrency; index++) readAhead(index);
  for (const [index, block] of blocks.entries()) {
    const members = (await reading[index]) as M[];
    delete reading[index];
    readAhead(index + concurrency);

    if (wrongIn(byNumber.get(block), members, latest) !== undefined) {
      const left = await inspector.inspect(
        { kind: `${kind.toLowerCase()} block`, id: block },
        inspectBlock(org, list, block, latest),
      );
      for (const [groupKey, by] of left?.excess ?? []) {
        passed.excess.set(groupKey, (passed.excess.get(groupKey) ?? 0) + by);
      }
    }
    for (const { createdAt } of members) if (createdAt > latest) latest = createdAt;
    highestId = Math.max(highestId, members.at(-1)?.id ?? 0);
    passed.rows += members.length;
    await options.visit(members);
    options.progress(passed.rows, Math.max(expected, passed.rows));
  }
  await inspector.inspect(
    { kind: `${kind.toLowerCase()} ids`, id: org },
    inspectHead(org, kind, { highestId, latest, highestBlock: blocks.at(-1) ?? -1 }),
  );
  return passed;
};

/** Blocks that hold members although the directory does not name them. */
const blocksWithoutCounters = async (
  org: number,
  kind: ListKind,
  known: ReadonlyMap<number, unknown>,
): Promise<number[]> => {
  const [head, counter] = await table.getMany<{ block?: number; value?: number }>([
    keys.listHead(org, kind),
    keys.counter(kind),
  ]);
  const drawn = counter?.value ?? 0;
  const unknown: number[] = [];
  for (
    let block = Math.min(head?.block ?? drawn, drawn);
    block >= 0 && unknown.length < maximumProbes;
    block--
  ) {
    if (!known.has(block)) unknown.push(block);
  }
  const found: number[] = [];
  for (const part of chunk(unknown, probesAtOnce)) {
    await Promise.all(
      part.map(async (block) => {
        const { pk } = keys.member(org, kind, block, 0);
        const [member] = await table.query<Key>({ pk, limit: 1, project: ["pk"] });
        if (member !== undefined) found.push(block);
      }),
    );
  }
  return found;
};
