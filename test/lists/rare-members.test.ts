/** Pages of rare members, each in a block of its own, and counters of groups that have no members left. */
import { Logger } from "@aws-lambda-powertools/logger";
import { expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockSize, firstIdOf, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { countedList } from "../../shared/lists/counted-list.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import * as tallies from "../../shared/lists/tally.ts";
import { dropZeros } from "../../shared/lists/zeros.ts";
import { useEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";

useEngine();

type Group = { team: number; isActive: boolean };
const emails = countedList<Group, { email: string }>("EMAIL", { team: "integer", isActive: "boolean" });

const active: Group = { team: 1, isActive: true };
const disabled: Group = { team: 1, isActive: false };

const transact = async (org: number, writes: readonly MemberWrite[]): Promise<void> => {
  for (const part of chunk(writes, 45)) await table.transact(emails.writes(org, part));
};

const move = (org: number, ids: readonly number[], from: Group, to: Group): Promise<void> =>
  transact(
    org,
    ids.map((id) => emails.change(org, id, { from, to })),
  );

let organizations = 0;
const isDisabled = ({ isActive }: Group): boolean => !isActive;

const blocks = 66;

/**
 * Blocks with as many disabled e-mails as active ones, the active ones older. Returns both kinds of ids,
 * oldest first.
 */
const spread = async (
  each = 1,
  blockCount = blocks,
): Promise<{ org: number; disabledIds: number[]; activeIds: number[] }> => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blockCount * blockSize);
  const from = (place: number) =>
    all.filter((_, index) => index % blockSize >= place && index % blockSize < place + each);
  const put = (reserved: Reserved[], group: Group) =>
    reserved.map((one) => emails.put(org, one, group, { email: `${one.id}@example.test` }));
  await transact(org, [...put(from(300), disabled), ...put(from(7), active)]);
  return { org, disabledIds: from(300).map(({ id }) => id), activeIds: from(7).map(({ id }) => id) };
};

const drop = (org: number): Promise<void> => dropZeros(org, ["EMAIL"], () => true, new Logger());

type Watch = {
  requests: number;
  before: ((name: string, input: string) => unknown) | undefined;
};

/** Counts the requests to the table while `act` runs; calls `before` before each. */
const watching = async <T>(watch: Partial<Watch>, act: () => Promise<T>): Promise<T> => {
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    const input = JSON.stringify(sent.input);
    watch.requests = (watch.requests ?? 0) + 1;
    await watch.before?.(commandName, input);
    return next(sent);
  });
  return act().finally(stop);
};

/** A page of disabled e-mails, newest first, and the requests that were sent for it. */
const page = async (org: number, { limit = 50, offset = 0 } = {}) => {
  const { before: _, ...watch }: Watch = { requests: 0, before: undefined };
  const { items, total } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit, offset, attributes: ["email"] }),
  );
  expect(items).toEqual(items.map(({ id }) => ({ id, group: "1-0", email: `${id}@example.test` })));
  return { ids: items.map(({ id }) => id), total, ...watch };
};

test("a page of members in fifty blocks takes two trips, in which it alone is sent", async () => {
  const { org, disabledIds } = await spread();
  let [inFlight, most, sent] = [0, 0, 0];
  const stop = intercept<Command>("initialize", (next) => async (command) => {
    most = Math.max(most, ++inFlight);
    const reply = await next(command).finally(() => inFlight--);
    sent += (reply.output as { Count?: number }).Count ?? 0;
    return reply;
  });
  const joined: Group[] = [];
  const join = async (groups: Group[]) => joined.push(...groups);
  const { items } = await emails.page(org, { matches: isDisabled, limit: 50, offset: 3, join });
  stop();
  expect(items.map(({ id }) => id)).toEqual(disabledIds.toReversed().slice(3, 53));
  expect([most, sent]).toEqual([50, 50 + blocks]);
  expect(joined).toEqual([disabled]);
});

test("in a full block in which few do not match, little more than the page is read", async () => {
  const org = ++organizations;
  const others = [3, 4, 77, 300, 510];
  const all = await reserve(org, "EMAIL", 2 * blockSize);
  const used = [...all.slice(0, blockSize), all[blockSize]].filter((one) => one !== undefined);
  const isOn = ({ id, block }: Reserved) =>
    others.includes(id - firstIdOf(block)) || block !== used[0]?.block;
  await transact(
    org,
    used.map((one) =>
      emails.put(org, one, isOn(one) ? active : disabled, { email: `${one.id}@example.test` }),
    ),
  );
  const newest = used
    .filter((one) => !isOn(one))
    .map(({ id }) => id)
    .reverse();
  for (const [offset, limit] of [
    [0, 50],
    [200, 100],
    [207, 1],
    [410, 100],
    [500, 10],
  ] as const) {
    const read = await page(org, { limit, offset });
    expect(read).toMatchObject({ ids: newest.slice(offset, offset + limit), requests: 2 });
  }
});

test("counters that are 0 are removed, and count again when members come back", async () => {
  const { org, disabledIds } = await spread();
  const older = disabledIds.slice(0, -1);
  await move(org, older, disabled, active);
  const namesOf = async () => (await tallies.read(org, "EMAIL")).map(({ counts }) => [...counts.keys()]);
  expect((await namesOf()).every((names) => names.length === 2)).toBe(true);
  await drop(org);
  // The newest block is left as it is.
  expect((await namesOf()).slice(1).every((names) => names.join() === "1-1")).toBe(true);
  await move(org, older.slice(0, 3), active, disabled);
  expect(await page(org)).toMatchObject({
    ids: [...older.slice(0, 3), ...disabledIds.slice(-1)].reverse(),
    total: 4,
  });
});

test("a counter that is 0 stays when a member is written while it is removed", async () => {
  const { org, disabledIds } = await spread();
  await move(org, disabledIds, disabled, active);
  let isMoved = false;
  const before = async (name: string, input: string): Promise<void> => {
    if (name !== "UpdateItemCommand" || !input.includes("REMOVE") || isMoved) return;
    isMoved = true;
    await move(org, disabledIds, active, disabled);
  };
  await watching({ before }, () => drop(org));
  expect(isMoved).toBe(true);
  expect((await page(org, { limit: 100 })).ids).toEqual([...disabledIds].reverse());
});
