import { beforeAll, describe, expect, test } from "vitest";
import { check } from "../../shared/check/check.ts";
import * as monitored from "../../shared/emails/email.ts";
import { emails } from "../../shared/emails/record.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as deletion from "../../shared/organizations/deletion.ts";
import { blockOf, blockSize, reserve } from "../../shared/table/blocks.ts";
import { keys, type ListKind, marksPrefix, rollupPrefix } from "../../shared/table/keys.ts";
import { blocksPerRollup } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { createOrganization, type Organization, scan } from "./client.ts";

/** Each in a block of its own, oldest first. */
let ids: number[];
let organization: Organization;
let org: number;

type Row = { pk: string; sk: string; facets: string; marks: string; from: string };

const rows = (kind: ListKind = "EMAIL") => table.query<Row>({ pk: keys.directory(org, kind, 0).pk });
const rollups = async (kind?: ListKind) => (await rows(kind)).filter(({ sk }) => sk.startsWith(rollupPrefix));
const ownBlocks = async () => (await rows()).filter(({ sk }) => /^\d/.test(sk)).map(({ sk }) => Number(sk));

const total = async (query: string): Promise<unknown> =>
  (await organization.api.get(`/emails?limit=1${query}`)).body.total;

beforeAll(async () => {
  organization = await createOrganization();
  org = organization.id;
  ids = [];
  for (let index = 0; index < blocksPerRollup + 2; index++) {
    const email = `person${index}@${organization.domain}`;
    ids.push(await monitored.add(org, { email, domainId: organization.domainId }, administrator));
    // A block is as good as full when its ids are gone.
    await reserve(org, "EMAIL", blockSize);
    await reserve(org, "ACTIVITY", blockSize);
  }
}, 60_000);

test("a scan's end rolls up a long directory, and nobody notices", async () => {
  expect(await rollups()).toHaveLength(0);
  const before = (await organization.api.get("/emails?limit=100")).body;
  expect(await scan(organization.api)).toMatchObject({ status: "completed", totalEmails: ids.length });
  await expect.poll(() => rollups("ACTIVITY")).toHaveLength(1);
  expect(await rollups()).toHaveLength(1);
  expect(await ownBlocks()).toEqual(ids.slice(blocksPerRollup).map(blockOf));
  const after = (await organization.api.get("/emails?limit=100")).body;
  const idsOf = (body: typeof after) => (body.emails as { id: number }[]).map(({ id }) => id);
  expect(idsOf(after)).toEqual([...ids].reverse());
  expect(idsOf(after)).toEqual(idsOf(before));
  expect(after.total).toBe(before.total);
});

test("what changes in rolled up blocks shows at once, and the next scan counts it", async () => {
  expect((await organization.api.patch(`/emails/${ids[3]}`, { isActive: false })).status).toBe(200);
  expect((await organization.api.delete(`/emails?id=${ids[4]}`)).status).toBe(200);
  expect(await ownBlocks()).toContain(blockOf(ids[3] ?? 0));
  expect(await total("")).toBe(ids.length - 1);
  expect(await total("&isActive=false")).toBe(1);
  expect(await scan(organization.api)).toMatchObject({ status: "completed", totalEmails: ids.length - 2 });
  expect(await check(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
});

describe("damage is found and mended:", () => {
  const expectFoundAndMended = async (kind: string, id: number, says: string): Promise<void> => {
    const { differences } = await check(org, { repair: true });
    expect(differences).toEqual([{ kind, id, says: expect.stringContaining(says), repaired: true }]);
    expect(await check(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
    expect(await total("")).toBe(ids.length - 1);
    expect(await total("&isActive=false")).toBe(1);
    await expect(organization.api.get(`/emails?offset=${ids.length - 11}`)).resolves.toMatchObject({
      body: { emails: { length: 10 } },
    });
  };

  test("a rollup that says too much of a block", async () => {
    const block = blockOf(ids[0] ?? 0);
    const facet = emails.encode({ domainId: organization.domainId, teamId: null, isActive: true });
    const [row] = (await rollups()) as [Row];
    await table.update(row, {
      set: { facets: row.facets.replace(`${block}:1`, `${block}:4`) },
    });
    await expectFoundAndMended("email block", block, `${facet} is 4, should be 1`);
  });

  test("a rollup that tells wrong members of a block, and the next one tells the right ones", async () => {
    const id = ids[1] ?? 0;
    const facet = emails.encode({ domainId: organization.domainId, teamId: null, isActive: true });
    const [row] = (await rows()).filter(({ sk }) => sk.startsWith(marksPrefix)) as [Row];
    // Each e-mail has one place more than the one before, in a block of its own.
    const second = /(?<=[:,])01(?=,)/;
    expect(row.marks).toMatch(second);
    await table.put({ ...row, marks: row.marks.replace(second, "02") });
    await expectFoundAndMended(
      "email block",
      blockOf(id),
      `marks of ${facet} are ${id + 1}, should be ${id}`,
    );
  });

  test.each([
    [
      "that says that a block of the log began later",
      1,
      (from: string) => {
        const [, second = ""] = from.match(/(?<=[:,])[a-z0-9]{8}(?=,)/g) ?? [];
        return from.replace(second, (Number.parseInt(second, 36) + 3_600_000).toString(36));
      },
    ],
    ["that does not say when one began", 1, (from: string) => from.replace(/,(\d+:)?\w+$/, "")],
    // Two have got a row of their own that says it, from the repairs before.
    ["that says of no block when it began", blocksPerRollup - 2, () => ""],
  ])("a rollup %s", async (_, differenceCount, damaged) => {
    const { total, activity } = (await organization.api.get("/activity?limit=100")).body;
    const [row] = (await rollups("ACTIVITY")) as [Row];
    await table.put({ ...row, from: damaged(row.from) });
    const report = await check(org, { repair: true });
    expect(report).toMatchObject({ differenceCount, unsettled: [] });
    expect(report.differences[0]).toMatchObject({
      kind: "activity block",
      says: expect.stringContaining("from is"),
      repaired: true,
    });
    expect(await check(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
    expect((await organization.api.get("/activity?limit=100")).body).toMatchObject({ total, activity });
  });

  test("a block's own row that is lost", async () => {
    const block = blockOf(ids[3] ?? 0);
    await table.remove(keys.directory(org, "EMAIL", block));
    await expectFoundAndMended("email block", block, "should be 1");
    // Who rolls up what was read before must not delete it.
    expect(await table.get(keys.directory(org, "EMAIL", block))).toMatchObject({ writes: 1 });
  });
});

test("a deleted organization leaves none of it, also when it is cut off", async () => {
  await deletion.begin(org);
  const key = keys.organization(org);
  await deletion.resume(key, 0, () => true);
  let left = 20;
  await deletion.resume(key, 0, () => left-- > 0);
  expect((await rows()).length).toBeGreaterThan(0);
  await deletion.resume(key, 0, () => true);
  expect(await rows()).toEqual([]);
  expect(await table.get(key)).toBeUndefined();
  const members = await Promise.all(ids.map((id) => emails.get(org, id)));
  expect(members.filter((row) => row !== undefined)).toEqual([]);
});
