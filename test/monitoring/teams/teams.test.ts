import { describe, expect, test, vi } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import * as domainRemovals from "../../../shared/monitoring/domains/domain-removal.ts";
import { assign, changeMany } from "../../../shared/monitoring/emails/changes.ts";
import * as emailsOf from "../../../shared/monitoring/emails/email.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { emails } from "../../../shared/monitoring/emails/record.ts";
import { importAll } from "../../../shared/monitoring/imports/commit.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { createOrganization, useWorkers } from "../../scanning/in-process-workers.ts";

useWorkers();

const create = async () => {
  const org = await createOrganization({ "a.example": 0 });
  const [domain] = (await domains.list(org)) as [domains.Domain];
  // On a busy machine many at once take longer than people would wait.
  const add = (index: number, teamId?: number) =>
    withTimeOf(60_000, () =>
      emailsOf.add(org, { email: `u${index}@a.example`, domainId: domain.id, teamId }, administrator),
    );
  return { org, domain, add };
};
const actions = async (org: number) =>
  (await log.list(org, { limit: 100, offset: 0 }, new Date())).activity.map(({ action }) => action);
const logged = async (org: number, action: string) =>
  (await actions(org)).filter((each) => each === action).length;
const page = { limit: 10, offset: 0 };

test("names of teams are unique in any case, also of many that are created at once", async () => {
  const { org } = await create();
  const tries = ["Sales", "sales", "SALES"].map((name) => teams.create(org, name, administrator));
  const results = await Promise.allSettled(tries);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { refusal: "teamExists" },
  });
  const other = await teams.create(org, "Other", administrator);
  await expect(teams.rename(org, other.id, "saleS", administrator)).rejects.toMatchObject({
    refusal: "teamExists",
  });
  await teams.rename(org, other.id, "OTHER", administrator);
  await teams.rename(org, other.id, "OTHER", administrator);
  await teams.rename(org, other.id, "Third", administrator);
  await teams.create(org, "other", administrator);
  expect(await logged(org, "team.updated")).toBe(2);
  expect((await teams.page(org, page)).total).toBe(3);
});

describe("deleting a team", () => {
  test("leaves exactly its e-mails without a team, and is logged once", async () => {
    const { org, domain } = await create();
    const [team, other] = [
      await teams.create(org, "Team", administrator),
      await teams.create(org, "Other", administrator),
    ];
    const rows = Array.from({ length: 120 }, (_, index) => ({
      email: `u${index}@a.example`,
      domainId: domain.id,
      team: index % 6 === 0 ? "Other" : "Team",
    }));
    await importAll(org, rows, administrator);
    expect((await teams.page(org, page)).teams).toEqual([
      { id: other.id, name: "Other", emailCount: 20, breachedEmailCount: 0 },
      { id: team.id, name: "Team", emailCount: 100, breachedEmailCount: 0 },
    ]);
    await teams.remove(org, team.id, administrator);
    await teams.remove(org, team.id, administrator);
    expect((await teams.page(org, page)).teams).toEqual([
      { id: other.id, name: "Other", emailCount: 20, breachedEmailCount: 0 },
    ]);
    // Its name may be that of a person, which must not outlive it.
    expect(await table.get(keys.team(org, team.id))).not.toHaveProperty("name");
    for (const filter of [
      { ...page, teamId: team.id },
      { limit: 1, offset: 200, teamId: team.id },
    ]) {
      expect(await emailList.list(org, filter)).toEqual({ emails: [], total: 0 });
      expect(await emailList.find(org, "u1", filter)).toEqual({ emails: [], total: 0 });
    }
    const listed = [
      await emailList.list(org, { limit: 100, offset: 0 }),
      await emailList.find(org, "a.example", page),
    ];
    for (const { emails: some, total } of listed) {
      expect(total).toBe(120);
      expect(new Set(some.map((email) => email.team?.name))).toEqual(new Set([undefined, "Other"]));
    }
    expect(await logged(org, "team.deleted")).toBe(1);
    const left = (await emailList.list(org, page)).emails.find((email) => email.team === null)?.id ?? 0;
    const taken = await changeMany(org, [left], { teamId: null }, administrator);
    expect(taken).toEqual({ changed: 0, skipped: 1 });
    await assign(org, left, { teamId: other.id }, administrator);
    expect((await emailList.get(org, left)).team).toEqual({ id: other.id, name: "Other" });
    await expect(teams.remove(org, team.id + 1_000, administrator)).rejects.toMatchObject({
      refusal: "teamNotFound",
    });
  });

  test("leaves none in it that is added at the same time", async () => {
    const { org, add } = await create();
    const team = await teams.create(org, "Team", administrator);
    const [removal, ...added] = await Promise.allSettled([
      teams.remove(org, team.id, administrator),
      ...Array.from({ length: 8 }, (_, index) => add(index, team.id)),
    ]);
    expect(removal.status).toBe("fulfilled");
    for (const each of added) {
      // A busy machine gives up some of so many changes of one block.
      if (each.status === "rejected") expect(["teamNotFound", "busy"]).toContain(each.reason.refusal);
    }
    expect((await emailList.list(org, page)).emails.every((email) => email.team === null)).toBe(true);
    await expect(add(999, team.id)).rejects.toMatchObject({ refusal: "teamNotFound" });
    await expect(teams.rename(org, team.id, "Again", administrator)).rejects.toMatchObject({
      refusal: "teamNotFound",
    });
    await teams.create(org, "Team", administrator);
  });
});

describe("removing a domain", () => {
  const isThere = async (org: number, id: number) => (await domains.get(org, id)) !== undefined;

  test("leaves no e-mail without a domain if one is added meanwhile", async () => {
    for (let round = 0; round < 5; round++) {
      const { org, domain, add } = await create();
      const [removed, added] = await Promise.allSettled([
        domainRemovals.remove(org, domain.id, administrator),
        add(0),
      ]);
      const [isLeft, count] = [await isThere(org, domain.id), emails.sum(await emails.tally(org))];
      expect({ isLeft, count }).toEqual(
        added.status === "fulfilled" ? { isLeft: true, count: 1 } : { isLeft: false, count: 0 },
      );
      expect(removed.status).toBe(isLeft ? "rejected" : "fulfilled");
      if (isLeft) expect(await domains.get(org, domain.id)).toMatchObject({ verified: true });
    }
  });

  test.each([false, true])("cut off can be repeated, and holds nobody up: %s", async (isUsed) => {
    const { org, domain, add } = await create();
    const cut = onTableRequest("the mark of a domain that is removed", "after", async () => {
      throw new Error("killed");
    });
    const remove = () => domainRemovals.remove(org, domain.id, administrator);
    await expect(remove()).rejects.toThrow("killed");
    expect(cut.happened).toBe(true);
    const marked = await domains.get(org, domain.id);
    expect(marked).toMatchObject({ verified: true, removing: expect.any(String) });
    if (isUsed) {
      const held = () => emailsOf.add(org, { email: "u@a.example", domainId: domain.id }, administrator);
      await expect(withTimeOf(300, held)).rejects.toMatchObject({ refusal: "busy" });
      const past = new Date(Date.now() - 1).toISOString();
      await table.update(keys.domain(org, domain.id), { set: { removing: past } });
      await add(1);
      await expect(remove()).rejects.toMatchObject({ refusal: "domainInUse" });
    } else {
      await remove();
      await remove();
      expect(await logged(org, "domain.removed")).toBe(1);
    }
    expect(await isThere(org, domain.id)).toBe(isUsed);
  });

  test("that paused until its mark ended keeps a domain with an e-mail", async () => {
    const { org, domain, add } = await create();
    // By then it has counted the domain's e-mails.
    const standing = onTableRequest(
      "addresses that nobody watches, or who keeps them",
      "before",
      async () => {
        vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
        await add(0);
      },
    );
    await domainRemovals.remove(org, domain.id, administrator).catch(() => {});
    vi.useRealTimers();
    expect(standing.happened).toBe(true);
    expect(await isThere(org, domain.id)).toBe(true);
  });

  test("changes nothing if an e-mail was added before the mark", async () => {
    const { org, domain, add } = await create();
    onTableRequest("the mark of a domain that is removed", "before", async () => void (await add(0)));
    await expect(domainRemovals.remove(org, domain.id, administrator)).rejects.toMatchObject({
      refusal: "domainInUse",
    });
    const row = await domains.get(org, domain.id);
    expect(row).toMatchObject({ verified: true });
    expect(row).not.toHaveProperty("removing");
  });
});
