/** Lists of the most exposed people, whatever changes their findings. */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as single from "../../../shared/findings/finding.ts";
import { findings } from "../../../shared/findings/record.ts";
import { severityAt } from "../../../shared/hibp/severity.ts";
import * as changes from "../../../shared/monitoring/emails/changes.ts";
import { find, list } from "../../../shared/monitoring/emails/email-list.ts";
import { type Email, emails, exposureOf } from "../../../shared/monitoring/emails/record.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import {
  addFindings,
  changeSeverity,
  expectAgreement,
  idsInNewBlock,
  readFindings,
  requestAll,
  runWorkers,
  seedFindings,
  setSeverity,
  settle,
  somebody,
} from "../../findings/acknowledgements/findings.ts";
import { useWorkers } from "../../scanning/in-process-workers.ts";

useWorkers();

/** Roughly how many: 1, 2 to 3, 4 to 7 and so on. */
const roughly = (count: number): number => Math.floor(Math.log2(count));

const openOf = fc.record({ open4: fc.nat(600), open3: fc.nat(600), open2: fc.nat(600), open1: fc.nat(600) });

test("an exposure grows with the worst level first, then with the number", () => {
  const worstOf = (open: Record<string, number>) =>
    [4, 3, 2, 1].find((level) => (open[`open${level}`] ?? 0) > 0) ?? 0;
  const sum = (open: Record<string, number>) => Object.values(open).reduce((all, each) => all + each, 0);
  fc.assert(
    fc.property(openOf, openOf, (one, other) => {
      const [first, second] = [exposureOf(one), exposureOf(other)];
      if (worstOf(one) !== worstOf(other)) expect(first > second).toBe(worstOf(one) > worstOf(other));
      else if (sum(one) <= sum(other)) expect(first).toBeLessThanOrEqual(second);
      if (first === second && sum(one) < 256) expect(roughly(sum(one))).toBe(roughly(sum(other)));
    }),
  );
  expect(exposureOf({})).toBe(0);
  expect([1, 2, 3, 4, 255, 256, 900].map((open1) => exposureOf({ open1 }))).toEqual([
    11, 12, 12, 13, 18, 19, 19,
  ]);
});

const pick = fc.nat(1_000);
const operation = fc.oneof(
  fc.record({ do: fc.constant("acknowledge" as const), which: pick }),
  fc.record({ do: fc.constant("find" as const), which: pick, count: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    do: fc.constant("change" as const),
    which: pick,
    isActive: fc.boolean(),
    inTeam: fc.boolean(),
  }),
  fc.record({ do: fc.constant("remove" as const), which: pick }),
  fc.record({ do: fc.constant("severity" as const), which: pick, level: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant("acknowledgeAll" as const), level: fc.integer({ min: 1, max: 4 }) }),
  fc.constant({ do: "reopenAll" as const }),
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

type World = { org: number; teamId: number; emailIds: number[]; nextBreach: number };

/** Breaches whose severity changes: each seeded e-mail has a finding of them. */
const seeded = [1, 2, 3];

const carryOut = async (world: World, operation: Operation): Promise<void> => {
  const { org, teamId, emailIds } = world;
  const emailAt = (which: number): number => emailIds[which % emailIds.length] as number;
  if (operation.do === "acknowledge") {
    const all = await readFindings(org);
    const id = all[operation.which % all.length]?.id;
    if (id !== undefined) await single.acknowledge(org, { id, resolution: "handled" }, somebody);
  } else if (operation.do === "find") {
    const emailId = emailAt(operation.which);
    const rows = Array.from({ length: operation.count }, (_, index) => ({
      emailId,
      breachId: world.nextBreach++,
      severity: 1 + ((operation.which + index) % 4),
    }));
    await addFindings(org, rows, await idsInNewBlock(org, rows.length));
  } else if (operation.do === "change") {
    const { isActive, inTeam, which } = operation;
    const set = { isActive, teamId: inTeam ? teamId : null };
    await changes.changeMany(org, [emailAt(which)], set, somebody);
  } else if (operation.do === "remove") {
    const id = emailAt(operation.which);
    if (emailIds.length <= 2) return;
    await removals.remove(org, id, somebody);
    emailIds.splice(emailIds.indexOf(id), 1);
  } else if (operation.do === "severity") {
    await changeSeverity(org, seeded[operation.which % seeded.length] ?? 1, severityAt(operation.level));
    await settle(org);
  } else if (operation.do === "acknowledgeAll") {
    await requestAll(org, { severity: [severityAt(operation.level)] });
    await runWorkers();
  } else {
    await acknowledgements.request(org, { filter: {} }, somebody);
    await runWorkers();
  }
};

/** Throws unless every list of exposed people is what the findings say. */
const check = async ({ org, teamId, emailIds }: World): Promise<void> => {
  const open = (await readFindings(org)).filter((row) => !findings.groupOf(row).acknowledged);
  const rankOf = (emailId: number): number => {
    const levels = open
      .filter((row) => row.emailId === emailId)
      .map((row) => findings.groupOf(row).severity ?? 0);
    return levels.length === 0 ? 0 : 100 * Math.max(...levels) + roughly(levels.length);
  };
  const rows = (await emails.getMany(org, emailIds)) as Email[];
  const isOf = (id: number | undefined, isActive: boolean | undefined, breached: boolean | undefined) =>
    rows
      .filter((row) => {
        const group = emails.groupOf(row);
        return (
          (id === undefined || group.teamId === id) &&
          (isActive === undefined || group.isActive === isActive) &&
          (breached === undefined || rankOf(row.id) > 0 === breached)
        );
      })
      .map((row) => row.id)
      .sort((one, other) => rankOf(other) - rankOf(one) || other - one);
  for (const breached of [undefined, true, false])
    for (const [ofTeam, isActive] of [[], [teamId], [teamId, true], [undefined, false]] as const) {
      const expected = isOf(ofTeam, isActive, breached);
      const query = { teamId: ofTeam, isActive, breached, order: "worst" as const, limit: 4, offset: 1 };
      for (const page of [
        await list(org, query),
        await find(org, "user", query),
        await find(org, "demo", query),
      ])
        expect({ ids: page.emails.map(({ id }) => id), total: page.total }).toEqual({
          ids: expected.slice(1, 5),
          total: expected.length,
        });
    }
  const [team] = (await teams.page(org, { limit: 1, offset: 0 })).teams;
  expect(team).toMatchObject({
    emailCount: isOf(teamId, undefined, undefined).length,
    breachedEmailCount: isOf(teamId, undefined, true).length,
  });
};

test("lists of exposed people are what findings say, after every step of a history", async () => {
  const history = fc.array(operation, { minLength: 10, maxLength: 16 });
  const property = fc.asyncProperty(history, async (operations) => {
    const { org, emailIds } = await seedFindings({ emailCount: 8, perEmail: 3, furtherBlocks: 0 });
    // As they are seeded. The catalog is that of all organizations.
    for (const breachId of seeded) await setSeverity(breachId, "high");
    const { id: teamId } = await teams.create(org, "Finance", somebody);
    const world: World = { org, teamId, emailIds, nextBreach: 1_000 };
    await check(world);
    for (const each of operations) {
      await carryOut(world, each);
      await check(world);
    }
    await expectAgreement(org);
  });
  await fc.assert(property, {
    seed: Number(process.env.SEED ?? 20_300_101),
    numRuns: Number(process.env.RUNS ?? 3),
  });
});
