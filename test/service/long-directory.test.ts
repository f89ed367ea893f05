import { beforeAll, describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { foldPrefix, keys, type ListKind, rarePrefix } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, blockSize, reserve } from "../../shared/lists/blocks.ts";
import { pack, unpack } from "../../shared/lists/directory.ts";
import { type Fold, foldLimits, type Runs } from "../../shared/lists/fold.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import * as deletion from "../../shared/operations/deletion.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { scan } from "./scan.ts";

/** Each in a block of its own, oldest first. */
let ids: number[];
let organization: Organization;
let org: number;

type Row = { pk: string; sk: string; number: number; fold: Uint8Array; ids: Uint8Array };

const rows = (kind: ListKind = "EMAIL") => table.query<Row>({ pk: keys.directory(org, kind, 0).pk });
const folds = async (kind?: ListKind) => (await rows(kind)).filter(({ sk }) => sk.startsWith(foldPrefix));
const ownBlocks = async () => (await rows()).filter(({ sk }) => /^\d/.test(sk)).map(({ sk }) => Number(sk));

const total = async (query: string): Promise<unknown> =>
  (await organization.api.get(`/emails?limit=1${query}`)).body.total;

beforeAll(async () => {
  organization = await createOrganization();
  org = organization.id;
  ids = [];
  for (let index = 0; index < foldLimits.blocks + 2; index++) {
    const email = `person${index}@${organization.domain}`;
    ids.push(await monitored.add(org, { email, domainId: organization.domainId }, administrator));
    // A block is as good as full when its ids are gone.
    await reserve(org, "EMAIL", blockSize);
    await reserve(org, "ACTIVITY", blockSize);
  }
});

test("a scan's end folds a long directory, and nobody notices", async () => {
  expect(await folds()).toHaveLength(0);
  const before = (await organization.api.get("/emails?limit=100")).body;
  expect(await scan(organization.api)).toMatchObject({ status: "completed", totalEmails: ids.length });
  await expect.poll(() => folds("ACTIVITY"), { timeout: 20_000 }).toHaveLength(1);
  expect(await folds()).toHaveLength(1);
  expect(await ownBlocks()).toEqual(ids.slice(foldLimits.blocks).map(blockOf));
  const after = (await organization.api.get("/emails?limit=100")).body;
  const idsOf = (body: typeof after) => (body.emails as { id: number }[]).map(({ id }) => id);
  expect(idsOf(after)).toEqual([...ids].reverse());
  expect(idsOf(after)).toEqual(idsOf(before));
  expect(after.total).toBe(before.total);
});

test("changes in folded blocks show at once, and the next scan counts them", async () => {
  expect((await organization.api.patch(`/emails/${ids[3]}`, { isActive: false })).status).toBe(200);
  expect((await organization.api.delete(`/emails?id=${ids[4]}`)).status).toBe(200);
  expect(await ownBlocks()).toContain(blockOf(ids[3] ?? 0));
  expect(await total("")).toBe(ids.length - 1);
  expect(await total("&isActive=false")).toBe(1);
  expect(await scan(organization.api)).toMatchObject({ status: "completed", totalEmails: ids.length - 2 });
  expect(await audit(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
});

describe("damage is found and repaired:", () => {
  const expectFoundAndRepaired = async (kind: string, id: number, says: string): Promise<void> => {
    const { differences } = await audit(org, { repair: true });
    expect(differences).toEqual([{ kind, id, says: expect.stringContaining(says), repaired: true }]);
    expect(await audit(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
    expect(await total("")).toBe(ids.length - 1);
    expect(await total("&isActive=false")).toBe(1);
    await expect(organization.api.get(`/emails?offset=${ids.length - 11}`)).resolves.toMatchObject({
      body: { emails: { length: 10 } },
    });
  };

  /** Changes what the only fold of a list says. */
  const damageFold = async (kind: ListKind, damage: (fold: Fold) => void): Promise<void> => {
    const [row] = (await folds(kind)) as [Row];
    const fold = unpack(row.fold);
    damage(fold);
    await table.put({ ...row, fold: pack(fold) });
  };

  test("a fold that counts too many members of a block", async () => {
    const block = blockOf(ids[0] ?? 0);
    const groupKey = emails.groupKeyOf({ domainId: organization.domainId, teamId: null, isActive: true });
    await damageFold("EMAIL", ({ groups }) => {
      const run = groups[groupKey]?.find(([first]) => first === block) as number[];
      run[1] = 4;
    });
    await expectFoundAndRepaired("email block", block, `${groupKey} is 4, should be 1`);
  });

  test("a wrong rare member", async () => {
    const id = ids[1] ?? 0;
    const groupKey = emails.groupKeyOf({ domainId: organization.domainId, teamId: null, isActive: true });
    const [row] = (await rows()).filter(({ sk }) => sk.startsWith(rarePrefix)) as [Row];
    const noted = JSON.stringify(unpack(row.ids));
    expect(noted).toContain(`[${id}]`);
    await table.put({ ...row, ids: pack(JSON.parse(noted.replace(`[${id}]`, `[${id + 1}]`))) });
    await expectFoundAndRepaired(
      "email block",
      blockOf(id),
      `rare members of ${groupKey} are ${id + 1}, should be ${id}`,
    );
  });

  /** Adds to the value of one block, counted over all runs. */
  const shiftValue = (runs: Runs, which: number, by: number): Runs => {
    let value = 0;
    return runs.map(([first = 0, ...values]) => [
      first,
      ...values.map((each) => (value++ === which ? each + by : each)),
    ]);
  };

  test.each([
    [
      "says that a block of the log began later",
      1,
      // Each value counts from the one before, so the next block is an hour earlier than the damaged one.
      (from: Runs) => shiftValue(shiftValue(from, 1, 3_600_000), 2, -3_600_000),
    ],
    [
      "does not say when a block began",
      1,
      (from: Runs) => [...from.slice(0, -1), (from.at(-1) ?? []).slice(0, -1)],
    ],
    // Two blocks have own rows with their times, from the repairs before.
    ["says of no block when it began", foldLimits.blocks - 2, () => []],
  ])("a fold that %s", async (_, differenceCount, damaged) => {
    const { total, activity } = (await organization.api.get("/activity?limit=100")).body;
    await damageFold("ACTIVITY", (fold) => {
      fold.from = damaged(fold.from);
    });
    const report = await audit(org, { repair: true });
    expect(report).toMatchObject({ differenceCount, unsettled: [] });
    expect(report.differences[0]).toMatchObject({
      kind: "activity block",
      says: expect.stringContaining("from is"),
      repaired: true,
    });
    expect(await audit(org)).toMatchObject({ differenceCount: 0, unsettled: [] });
    expect((await organization.api.get("/activity?limit=100")).body).toMatchObject({ total, activity });
  });

  test("a block's own row that is lost", async () => {
    const block = blockOf(ids[3] ?? 0);
    await table.remove(keys.directory(org, "EMAIL", block));
    await expectFoundAndRepaired("email block", block, "should be 1");
    // A folder that read the row before must not delete it.
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
