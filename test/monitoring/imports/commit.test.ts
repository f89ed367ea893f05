import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { entries } from "../../../shared/access/activity/activity.ts";
import type { Actor } from "../../../shared/access/activity/actor.ts";
import { activeCount } from "../../../shared/access/billing/billing.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { chunk } from "../../../shared/aws/table/chunk.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { remove } from "../../../shared/findings/email-removal.ts";
import { blockSize, reserve } from "../../../shared/lists/blocks.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../../shared/monitoring/domains/proof.ts";
import * as emails from "../../../shared/monitoring/emails/email.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { emails as emailRows } from "../../../shared/monitoring/emails/record.ts";
import { commit } from "../../../shared/monitoring/imports/commit.ts";
import { plan } from "../../../shared/monitoring/imports/plan.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import { activeBilling } from "../../access/organizations/billing.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";

const actor: Actor = { type: "api_key", id: 1, label: "Test key" };

useEngine();

/** Called before and after each transaction, with its number from 1. */
let before: (transaction: number) => Promise<void> | void = () => {};
let after: (transaction: number) => void = () => {};
let transactions = 0;

beforeAll(async () => {
  intercept<Command>("initialize", (next) => async (sent) => {
    const { TransactItems } = sent.input as { TransactItems?: unknown[] };
    if (TransactItems === undefined) return next(sent);
    const number = ++transactions;
    await before(number);
    const reply = await next(sent);
    after(number);
    return reply;
  });
});

afterEach(() => {
  before = () => {};
  after = () => {};
});

const createOrganization = async (allowance: number | null = null) => {
  const billing = { ...activeBilling, seatAllowance: allowance };
  const { id: org } = await organizations.create({ name: "Test", billing, scanEvery: "never" });
  return { org, domainId: await createDomain(org, "demo.example") };
};

const createDomain = async (org: number, name: string): Promise<number> => {
  const domain = await domains.create(org, { name, verified: true });
  if (domain === "exists") throw new Error(`${name} is there`);
  return domain.id;
};

const candidates = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ email: `person${index}@demo.example` }));

/** Plans and commits an import. Transactions are counted anew. */
const importAll = async (org: number, list: { email: string; team?: string }[]) => {
  const planned = await plan(org, list);
  transactions = 0;
  return commit(org, planned, actor);
};

/**
 * Commits four plans of `count` addresses each. None writes before all have compared their quotes. One of
 * them succeeds.
 */
const commitAtOnce = async (org: number, count: number, team?: (list: string) => string) => {
  const lists = ["a", "b", "c", "d"].map((name) =>
    candidates(count).map(({ email }) => ({ email: `${name}.${email}`, ...(team && { team: team(name) }) })),
  );
  const plans = await Promise.all(lists.map((list) => plan(org, list)));
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let arrived = 0;
  before = () => {
    if (++arrived === plans.length) open();
    return gate;
  };
  const commits = () => Promise.allSettled(plans.map((each) => commit(org, each, actor)));
  const settled = await withTimeOf(120_000, commits);
  before = () => {};
  const mismatch = { status: "rejected", reason: { refusal: "quoteMismatch" } };
  expect(settled.filter(({ status }) => status === "rejected")).toMatchObject(Array(3).fill(mismatch));
  const [done] = settled.filter((each) => each.status === "fulfilled");
  return { done: done?.value, rest: lists.filter((_, index) => settled[index]?.status === "rejected") };
};

/** How many e-mails there are and how many are active. Fails unless everything that counts them agrees. */
const counted = async (org: number) => {
  const tally = await emailRows.tally(org);
  const all = emailRows.sum(tally);
  const active = emailRows.sum(tally, ({ isActive }) => isActive);
  const { emails: page } = await emailList.list(org, { limit: 1000, offset: 0 });
  const addresses = await table.getMany(page.map(({ email }) => keys.address(org, email)));
  expect(page).toHaveLength(all);
  expect(new Set(page.map(({ email }) => email)).size).toBe(all);
  expect(addresses).not.toContain(undefined);
  expect(page.filter(({ isActive }) => isActive)).toHaveLength(active);
  expect(await activeCount(org)).toBe(active);
  return { all, active };
};

const summaries = async (org: number, of = "emails.imported"): Promise<string[]> => {
  const { items } = await entries.page(org, { limit: 100, offset: 0 });
  return items.filter(({ action }) => action === of).map(({ summary }) => summary);
};

const crash = new Error("The function ended");

test("500 addresses are imported in at most twelve transactions", async () => {
  const { org } = await createOrganization();
  expect(await importAll(org, candidates(500))).toEqual({
    importedCount: 500,
    disabledCount: 0,
    skippedCount: 0,
  });
  expect(transactions).toBeLessThanOrEqual(12);
  expect(await counted(org)).toEqual({ all: 500, active: 500 });
  expect(await summaries(org)).toEqual(["Imported 500 addresses"]);
});

test("transactions stay bounded with a domain for each address and across blocks", async () => {
  const { org } = await createOrganization();
  const names = Array.from({ length: 150 }, (_, index) => `d${index}.example`);
  for (const some of chunk(names, 10)) await Promise.all(some.map((name) => createDomain(org, name)));
  await reserve(org, "EMAIL", blockSize - 75);
  const addresses = names.map((name) => ({ email: `ada@${name}` }));
  expect(await importAll(org, addresses)).toMatchObject({ importedCount: 150 });
  expect(await emailRows.tally(org)).toHaveLength(2);
  expect(await counted(org)).toEqual({ all: 150, active: 150 });
});

test.each([1, 2, 5])(
  "after a crash at transaction %i all counts agree, and a new import does the rest",
  async (at) => {
    for (const when of ["before", "after"]) {
      const { org } = await createOrganization(120);
      const fail = (transaction: number) => {
        if (transaction === at) throw crash;
      };
      if (when === "before") before = fail;
      else after = fail;
      await expect(importAll(org, candidates(200))).rejects.toBe(crash);
      before = () => {};
      after = () => {};

      const first = await counted(org);
      expect(first.active).toBe(Math.min(120, first.all));
      expect(first.all > 0).toBe(at > 1 || when === "after");
      const told = (await summaries(org)).map((summary) => Number(/Imported (\d+)/.exec(summary)?.[1]));
      expect(told).toEqual(first.all === 0 ? [] : [first.all]);

      const rest = 200 - first.all;
      if (rest === 0) {
        await expect(importAll(org, candidates(200))).rejects.toMatchObject({ refusal: "nothingToImport" });
        continue;
      }
      expect(await importAll(org, candidates(200))).toEqual({
        importedCount: rest,
        disabledCount: 80 - (first.all - first.active),
        skippedCount: first.all,
      });
      expect(await counted(org)).toEqual({ all: 200, active: 120 });
      expect((await summaries(org))[0]).toMatch(new RegExp(`^Imported ${rest} address`));
    }
  },
);

test("an address added during the import is skipped, and its seat is not given twice", async () => {
  const { org, domainId } = await createOrganization(60);
  before = async (transaction) => {
    if (transaction !== 2) return;
    await emails.add(org, { email: "person60@demo.example", domainId }, actor);
    await emails.add(org, { email: "other@demo.example", domainId }, actor);
  };
  expect(await importAll(org, candidates(100))).toEqual({
    importedCount: 99,
    disabledCount: 41,
    skippedCount: 1,
  });
  expect(await counted(org)).toEqual({ all: 101, active: 60 });
  expect(await summaries(org)).toEqual([
    "Imported 99 addresses, 41 of them disabled beyond the seat allowance",
  ]);
});

test("an import is refused and not logged if its addresses were all added before it", async () => {
  const { org, domainId } = await createOrganization();
  before = async (transaction) => {
    if (transaction === 1) await emails.add(org, { email: "person0@demo.example", domainId }, actor);
  };
  await expect(importAll(org, candidates(1))).rejects.toMatchObject({ refusal: "quoteMismatch" });
  expect(await counted(org)).toEqual({ all: 1, active: 1 });
  expect(await summaries(org)).toEqual([]);
});

test("addresses of a domain that loses its verification during the import are skipped", async () => {
  const { org } = await createOrganization();
  const second = await createDomain(org, "two.example");
  const list = candidates(90).map(({ email }, index) => ({
    email: index % 2 === 0 ? email : email.replace("demo", "two"),
  }));
  before = async (transaction) => {
    if (transaction === 2) await setVerified(org, second, false);
  };
  const { importedCount, skippedCount } = await importAll(org, list);
  expect(importedCount + skippedCount).toBe(90);
  expect(skippedCount).toBeGreaterThan(0);
  expect(await counted(org)).toEqual({ all: importedCount, active: importedCount });
});

test("a scan that begins during the import does not count later addresses as checked", async () => {
  const { org, domainId } = await createOrganization();
  before = async (transaction) => {
    if (transaction === 2) await table.update(keys.domain(org, domainId), { set: { plannedByScan: 7 } });
  };
  expect(await importAll(org, candidates(100))).toMatchObject({ importedCount: 100 });
  // Scan 7 completes: e-mails that were imported before it began count as checked, later ones do not.
  const checkedAt = new Date().toISOString();
  await table.update(keys.domain(org, domainId), { set: { checkedByScan: 7, checkedAt } });
  const { emails: page } = await emailList.list(org, { limit: 100, offset: 0 });
  const oldestFirst = page.reverse().map(({ lastScannedAt }) => lastScannedAt);
  const checked = oldestFirst.filter((at) => at !== null).length;
  expect(checked).toBeGreaterThan(0);
  expect(checked).toBeLessThan(100);
  expect(oldestFirst.slice(0, checked)).toEqual(Array(checked).fill(checkedAt));
});

test("of commits of one quote at once one succeeds; the others are previewed anew", async () => {
  const { org } = await createOrganization(100);
  const { done, rest } = await commitAtOnce(org, 60);
  expect(done).toMatchObject({ importedCount: 60, disabledCount: 0 });
  expect(await counted(org)).toEqual({ all: 60, active: 60 });
  expect(await summaries(org)).toEqual(["Imported 60 addresses"]);
  const disabled: number[] = [];
  for (const list of rest) disabled.push((await importAll(org, list)).disabledCount);
  expect(disabled).toEqual([20, 60, 60]);
  expect(await counted(org)).toEqual({ all: 240, active: 100 });
});

test("a commit is refused if other e-mails became active, also without a free seat", async () => {
  for (const allowance of [null, 2]) {
    const { org, domainId } = await createOrganization(allowance);
    await emails.add(org, { email: "one@demo.example", domainId }, actor);
    const id = await emails.add(org, { email: "two@demo.example", domainId }, actor);
    before = async (transaction) => {
      if (transaction === 1) await remove(org, id, actor);
    };
    await expect(importAll(org, candidates(3))).rejects.toMatchObject({ refusal: "quoteMismatch" });
    expect(await counted(org)).toEqual({ all: 1, active: 1 });
  }
});

test("a commit that crashed is refused when it is repeated, and imports nothing twice", async () => {
  const { org } = await createOrganization();
  const planned = await plan(org, candidates(100));
  transactions = 0;
  after = (transaction) => {
    if (transaction === 1) throw crash;
  };
  await expect(commit(org, planned, actor)).rejects.toBe(crash);
  after = () => {};
  const first = await counted(org);
  expect(first.all).toBeGreaterThan(0);
  await expect(commit(org, planned, actor)).rejects.toMatchObject({ refusal: "quoteMismatch" });
  expect(await counted(org)).toEqual(first);
  expect(await importAll(org, candidates(100))).toMatchObject({ importedCount: 100 - first.all });
  expect(await counted(org)).toEqual({ all: 100, active: 100 });
});

describe("teams", () => {
  const people = (team: (index: number) => string, count = 100) =>
    candidates(count).map((candidate, index) => ({ ...candidate, team: team(index) }));
  /** How many e-mails are in each team; fails unless the lists of teams and of e-mails agree. */
  const teamSizes = async (org: number): Promise<Record<string, number>> => {
    const [{ teams: listed }, { emails: page }] = await Promise.all([
      teams.page(org, { limit: 1000, offset: 0 }),
      emailList.list(org, { limit: 1000, offset: 0 }),
    ]);
    const sizes = Object.fromEntries(listed.map(({ name, emailCount }) => [name, emailCount]));
    const shown = Map.groupBy(
      page.flatMap(({ team }) => (team === null ? [] : team.name)),
      (name) => name,
    );
    for (const [name, members] of shown) expect(sizes[name]).toBe(members.length);
    return sizes;
  };

  test("are found by name in any case and Unicode form, or created", async () => {
    const { org } = await createOrganization();
    await teams.create(org, "Größe", actor);
    const spellings = ["Sales", "sales", "SALES", "GRO\u0308ßE", "größe"];
    const spelled = people((index) => spellings[index % 5] as string);
    expect(await importAll(org, spelled)).toMatchObject({ importedCount: 100 });
    expect(await teamSizes(org)).toEqual({ Größe: 40, Sales: 60 });
    expect(await summaries(org)).toEqual(["Imported 100 addresses"]);
    expect(await summaries(org, "team.created")).toEqual([
      "Created the team Sales",
      "Created the team Größe",
    ]);
  });

  test("a team for each of 120 e-mails keeps transactions bounded", async () => {
    const { org } = await createOrganization();
    const each = people((index) => `Team ${index}`, 120);
    await importAll(org, each);
    expect(Object.keys(await teamSizes(org))).toHaveLength(120);
    expect(await summaries(org)).toEqual(["Imported 120 addresses"]);
    const told = await summaries(org, "team.created");
    expect(told.at(-1)).toBe("Created the teams Team 0, Team 1, Team 2, Team 3, Team 4 and 35 more");
  });

  test("of one name that many imports create at once are one team", async () => {
    const { org } = await createOrganization();
    const { done, rest } = await commitAtOnce(org, 30, () => "Sales");
    expect(done).toMatchObject({ importedCount: 30 });
    expect(await teamSizes(org)).toEqual({ Sales: 30 });
    for (const list of rest) await importAll(org, list);
    expect(await teamSizes(org)).toEqual({ Sales: 120 });
    expect(await summaries(org, "team.created")).toEqual(["Created the team Sales"]);
  });

  test("of an import that is refused are not created", async () => {
    const { org } = await createOrganization();
    await commitAtOnce(org, 30, (name) => `Team of ${name}`);
    expect(Object.values(await teamSizes(org))).toEqual([30]);
  });

  test("one that is deleted during the import is created again for the rest", async () => {
    const { org } = await createOrganization();
    const { id } = await teams.create(org, "Sales", actor);
    transactions = 0;
    before = async (transaction) => {
      if (transaction !== 2) return;
      before = () => {};
      await teams.remove(org, id, actor);
    };
    const all = people(() => "Sales");
    expect(await importAll(org, all)).toMatchObject({ importedCount: 100 });
    const { Sales: rest = 0 } = await teamSizes(org);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(100);
  });

  test("are not created by an import that imports nothing of them", async () => {
    const { org, domainId } = await createOrganization();
    await emails.add(org, { email: "person0@demo.example", domainId }, actor);
    const list = [...people(() => "Sales", 1), { email: "person1@demo.example" }];
    await importAll(org, list);
    expect(await teamSizes(org)).toEqual({});
  });
});
