import { beforeAll, describe, expect, test } from "vitest";
import * as activity from "../../shared/access/activity/activity.ts";
import { type Actor, administrator, service } from "../../shared/access/activity/actor.ts";
import * as log from "../../shared/access/activity/log.ts";
import * as users from "../../shared/access/members/user.ts";
import type { Write } from "../../shared/aws/table/condition.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockSize, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";
import { createOrganization, createUser } from "./organizations/accounts.ts";

useEngine();

const now = new Date("2026-12-01T00:00:00Z");
const dayOf = (day: number): string => `2026-11-${String(day).padStart(2, "0")}T12:00:00.000Z`;

/** Writes entries in a block of their own. */
const add = async (
  org: number,
  entries: readonly { createdAt: string; summary: string; actor: Actor }[],
): Promise<void> => {
  const ids = await reserve(org, "ACTIVITY", blockSize);
  const from = entries[0]?.createdAt ?? "";
  for (const [index, { createdAt, ...entry }] of entries.entries()) {
    const reserved = { ...(ids[index] as Reserved), createdAt, blockFrom: from };
    const writes = activity.writes(org, reserved, { action: "team.created", ...entry });
    // These times are past.
    await table.transact(writes.map(({ until: _, ...write }) => write as Write));
  }
};

const find = async (org: number, query: Partial<Parameters<typeof log.list>[1]>) => {
  const { activity, total, searchedSince } = await log.list(org, { limit: 100, offset: 0, ...query }, now);
  return { summaries: activity.map(({ summary }) => summary), total, searchedSince };
};

describe("the activity log", () => {
  let org: number;
  let ada: Actor & { id: number };
  beforeAll(async () => {
    org = await createOrganization();
    const user = await createUser(org, "ada@acme.example");
    const gone = await createUser(org, "gone@acme.example");
    await users.remove(org, gone.id);
    ada = { type: "user", id: user.id, label: user.email };
    const removed = { type: "user", id: gone.id, label: gone.email } as const;
    await add(org, [
      { createdAt: dayOf(1), summary: "Created the team Élan", actor: ada },
      { createdAt: dayOf(2), summary: "Created the team Finance", actor: removed },
    ]);
    await add(org, [
      { createdAt: dayOf(3), summary: "Created the team IT", actor: service },
      { createdAt: dayOf(4), summary: "Created the team HR", actor: ada },
    ]);
  });

  test.each<[query: Record<string, string>, days: number[]]>([
    [{ from: dayOf(2), to: dayOf(4) }, [3, 2]],
    [{ from: dayOf(3) }, [4, 3]],
    [{ to: dayOf(1) }, []],
    [{ q: "elan" }, [1]],
    [{ q: "ADA@acme" }, [4, 1]],
    [{ q: "gone@acme" }, []],
    [{ actor: "removed" }, [2]],
    [{ actor: "system", q: "it" }, [3]],
    [{ q: "team", category: "alerts" }, []],
  ])("is searched by %j", async (query, days) => {
    const summaries = ["", "Élan", "Finance", "IT", "HR"];
    const found = await find(org, query);
    expect(found).toEqual({
      summaries: days.map((day) => `Created the team ${summaries[day]}`),
      total: days.length,
      searchedSince: null,
    });
  });

  test("is searched by the person, page by page with the whole total", async () => {
    const actor = String(ada.id);
    expect(await find(org, { actor, limit: 1 })).toMatchObject({
      summaries: ["Created the team HR"],
      total: 2,
    });
    expect(await find(org, { actor, offset: 1 })).toMatchObject({
      summaries: ["Created the team Élan"],
      total: 2,
    });
  });

  test("search reads at most eight blocks and says where it stopped", async () => {
    const other = await createOrganization();
    for (let block = 1; block <= 10; block++)
      await add(other, [
        { createdAt: dayOf(block), summary: `Created the team ${block}`, actor: administrator },
      ]);
    const capacity = recordCapacity();
    const found = await find(other, { q: "created" });
    expect(capacity.take().calls).toBeLessThanOrEqual(2 + 8);
    expect(found.summaries).toHaveLength(8);
    expect(found).toMatchObject({ total: 8, searchedSince: dayOf(3) });
    // A narrower time is searched whole.
    expect(await find(other, { q: "created", to: dayOf(3) })).toMatchObject({
      total: 2,
      searchedSince: null,
    });
    expect(capacity.take().calls).toBe(2 + 2);
  });
});
