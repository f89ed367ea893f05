/** Rules end findings that are there, and open them again, whoever is at work and whoever dies. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayEnd } from "../../../bench/rules-oracle.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import { follow } from "../../../shared/findings/acknowledgements/follow.ts";
import { work } from "../../../shared/findings/acknowledgements/work.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as single from "../../../shared/findings/finding.ts";
import * as marks from "../../../shared/findings/rules/marks.ts";
import { preview } from "../../../shared/findings/rules/preview.ts";
import * as ruleList from "../../../shared/findings/rules/rule-list.ts";
import { type RuleId, rulesInOrder } from "../../../shared/findings/rules/rule-schema.ts";
import * as switches from "../../../shared/findings/rules/switches.ts";
import type { Breach } from "../../../shared/hibp/breach.ts";
import { emails } from "../../../shared/monitoring/emails/record.ts";
import { onTableRequest } from "../../aws/table/request-points.ts";
import { invocation, takeMessages, useWorkers } from "../../scanning/in-process-workers.ts";
import {
  addFindings,
  expectAgreement,
  idsInNewBlock,
  readFindings,
  requestAll,
  runWorkers,
  type Seeded,
  seedFindings,
  settle,
  somebody,
} from "../acknowledgements/findings.ts";
import { killedAfter } from "../acknowledgements/killed.ts";
import {
  ada,
  findingsOf,
  logOf,
  setBreach,
  setPerson,
  settleRules,
  stateOf,
  switchRule,
} from "./organizations.ts";

useWorkers();

let breaches = 5_000;

type Given = Seeded & { secret: number; low: number; card: number };

/** Six people, each in a breach of passwords, a harmless one and one of credit cards. */
const seed = async (): Promise<Given> => {
  const seeded = await seedFindings({ emailCount: 6, perEmail: 0, furtherBlocks: 0 });
  const { org, emailIds } = seeded;
  const [secret, low, card] = [++breaches, ++breaches, ++breaches];
  await setBreach(org, secret, { dataClasses: ["Passwords", "Email addresses"] });
  await setBreach(org, low, { dataClasses: ["Names", "Email addresses"] });
  await setBreach(org, card, { dataClasses: ["Credit cards"] });
  for (const [breachId, severity] of [
    [secret, 3],
    [low, 1],
    [card, 3],
  ] as const) {
    const rows = emailIds.map((emailId) => ({ emailId, breachId, severity }));
    await addFindings(org, rows, await idsInNewBlock(org, rows.length));
  }
  await settleRules(org);
  return { ...seeded, secret, low, card };
};

const statesOf = async (org: number, of: Parameters<typeof findingsOf>[1] = {}): Promise<string[]> =>
  (await findingsOf(org, of)).map(stateOf);

const all = (state: string, count: number): string[] => Array<string>(count).fill(state);

const gone = { ...ada, leftAt: "2026-11-03T09:00:00.000Z" };
const changed = { ...ada, passwordChangedAt: "2026-11-03T09:00:00.000Z" };

describe("switching on", () => {
  test("ends what is there, with its reason, one log entry and exact counts", async () => {
    const { org, low } = await seed();
    await switchRule(org, "harmless", true);
    await settleRules(org);
    expect(await statesOf(org)).toEqual([...all("open", 6), ...all("harmless", 6), ...all("open", 6)]);
    for (const { acknowledgment } of await findingsOf(org, { breachId: low })) {
      expect(acknowledgment).toEqual({
        at: expect.any(String),
        by: { type: "system", id: null, label: "Breach Monitor" },
        resolution: "ignored",
        reason: "Low severity: Names, Email addresses",
        rule: "harmless",
      });
    }
    expect(await logOf(org)).toEqual(['system: Rule "Low severity" ended 6 breach findings as ignored']);
    const ended = { total: 6, lastWeek: 6 };
    expect(await ruleList.list(org, new Date())).toMatchObject([
      { id: "left", isOn: false, changedAt: null, ended: { total: 0, lastWeek: 0 } },
      { id: "password_changed", isOn: false },
      { id: "harmless", isOn: true, ended },
    ]);
    await expectAgreement(org);
    // Again it changes nothing, and is not logged.
    await switchRule(org, "harmless", true);
    expect(await marks.read(org, 1)).toEqual([]);
  });

  test("ends what the preview counted, and nothing else", async () => {
    const { org, emailIds, low, card } = await seed();
    await setPerson(org, emailIds[0] ?? 0, gone);
    await setPerson(org, emailIds[1] ?? 0, changed);
    // HIBP has not described this one yet, so that it is low by default.
    const unknown = ++breaches;
    await setBreach(org, unknown, { dataClasses: [] });
    const row = { emailId: emailIds[2] ?? 0, breachId: unknown, severity: 1 };
    await addFindings(org, [row], await idsInNewBlock(org, 1));
    await settleRules(org);
    const previews = await Promise.all(rulesInOrder.map((rule) => preview(org, rule)));
    expect(previews.map(({ open, wouldEnd, examples }) => [open, wouldEnd, examples.length])).toEqual([
      [19, 3, 3],
      [19, 1, 1],
      [19, 6, 5],
    ]);
    expect(await statesOf(org)).toEqual(all("open", 19));
    for (const rule of rulesInOrder) await switchRule(org, rule, true);
    await settleRules(org);
    expect(await statesOf(org, { emailId: emailIds[0] ?? 0 })).toEqual(all("left", 3));
    expect(await statesOf(org, { emailId: emailIds[1] ?? 0 })).toEqual([
      "password_changed",
      "harmless",
      "open",
    ]);
    expect(await statesOf(org, { breachId: low })).toEqual(["left", ...all("harmless", 5)]);
    expect(await statesOf(org, { breachId: card })).toEqual(["left", ...all("open", 5)]);
    await expectAgreement(org);
  });

  test("off, a rule ends nothing more and reopens nothing", async () => {
    const { org, emailIds } = await seed();
    await switchRule(org, "left", true);
    await setPerson(org, emailIds[0] ?? 0, gone);
    await settleRules(org);
    await switchRule(org, "left", false);
    await setPerson(org, emailIds[0] ?? 0, ada);
    await setPerson(org, emailIds[1] ?? 0, gone);
    await settleRules(org);
    expect(await statesOf(org, { emailId: emailIds[0] ?? 0 })).toEqual(all("left", 3));
    expect(await statesOf(org, { emailId: emailIds[1] ?? 0 })).toEqual(all("open", 3));
    // On again, it looks at everything.
    await switchRule(org, "left", true);
    await settleRules(org);
    expect(await statesOf(org, { emailId: emailIds[0] ?? 0 })).toEqual(all("open", 3));
    expect(await statesOf(org, { emailId: emailIds[1] ?? 0 })).toEqual(all("left", 3));
    await expectAgreement(org);
  });
});

describe("facts", () => {
  test("end the findings of all people at once, with one log entry", async () => {
    const { org, emailIds } = await seed();
    await switchRule(org, "left", true);
    await settleRules(org);
    for (const id of emailIds.slice(0, 4)) await setPerson(org, id, gone);
    await settleRules(org);
    expect((await statesOf(org)).filter((state) => state === "left")).toHaveLength(12);
    expect(await logOf(org)).toEqual(['system: Rule "Left the company" ended 12 breach findings as ignored']);
    const [first] = await findingsOf(org, { emailId: emailIds[0] ?? 0 });
    expect(first?.acknowledgment?.reason).toBe("Ada Lovelace left (Entra, 3 Nov 2026)");
  });

  test("taken back, they open what nobody touched, once, and tell it", async () => {
    const { org, emailIds } = await seed();
    const [one = 0] = emailIds;
    await switchRule(org, "left", true);
    await setPerson(org, one, gone);
    await settleRules(org);
    const [first, second] = await findingsOf(org, { emailId: one });
    await single.acknowledge(org, { id: first?.id ?? 0, resolution: "handled", reason: "Ours" }, somebody);
    const { id } = await acknowledgements.request(org, { ids: [second?.id ?? 0] }, somebody);
    await runWorkers();
    expect((await acknowledgements.getReopening(org, id)).status).toBe("completed");
    await setPerson(org, one, ada);
    await settleRules(org);
    expect(await statesOf(org, { emailId: one })).toEqual(["person", "open", "open"]);
    const told = await table.query<{ type: string; findingIds: Set<number> }>({
      pk: keys.outbox(org, "").pk,
    });
    const third = (await findingsOf(org, { emailId: one }))[2]?.id;
    expect(told.map(({ type, findingIds }) => [type, [...findingIds]])).toEqual([["reopened", [third]]]);
    // Gone again, the finding that a person has reopened stays open.
    await setPerson(org, one, gone);
    await settleRules(org);
    expect(await statesOf(org, { emailId: one })).toEqual(["person", "open", "left"]);
    expect((await preview(org, "left")).wouldEnd).toBe(0);
    expect((await ruleList.list(org, new Date()))[0]?.ended).toEqual({ total: 1, lastWeek: 1 });
    await expectAgreement(org);
  });

  test("that hold no more leave the finding to the next rule, without opening it", async () => {
    const { org, emailIds, low } = await seed();
    const [one = 0] = emailIds;
    for (const rule of rulesInOrder) await switchRule(org, rule, true);
    await settleRules(org);
    await setPerson(org, one, { ...gone, ...changed });
    await settleRules(org);
    expect(await statesOf(org, { emailId: one })).toEqual(["left", "harmless", "left"]);
    await setPerson(org, one, changed);
    await settleRules(org);
    expect(await statesOf(org, { emailId: one })).toEqual(["password_changed", "harmless", "open"]);
    const [taken] = await findingsOf(org, { emailId: one });
    expect(taken?.acknowledgment).toMatchObject({ resolution: "handled", rule: "password_changed" });
    // A rule stays while it holds, also where an earlier one holds now.
    await setPerson(org, one, { ...gone, ...changed });
    await settleRules(org);
    expect(await statesOf(org, { emailId: one, breachId: low })).toEqual(["harmless"]);
    await expectAgreement(org);
  });

  test("that came and went before a worker looked leave no trace", async () => {
    const { org, emailIds } = await seed();
    const [one = 0] = emailIds;
    await switchRule(org, "left", true);
    await settleRules(org);
    for (const person of [gone, ada, gone, ada]) await setPerson(org, one, person);
    await settleRules(org);
    expect(await statesOf(org, { emailId: one })).toEqual(all("open", 3));
    expect(await logOf(org)).toEqual([]);
  });
});

describe("breaches", () => {
  test("that gain a class or a severity are open again if no other rule holds", async () => {
    const { org, emailIds, secret, low } = await seed();
    for (const rule of rulesInOrder) await switchRule(org, rule, true);
    for (const id of emailIds) await setPerson(org, id, changed);
    await settleRules(org);
    await setPerson(org, emailIds[0] ?? 0, { ...gone, ...changed });
    await settleRules(org);
    expect(await statesOf(org, { breachId: secret })).toEqual(all("password_changed", 6));
    await setBreach(org, secret, { dataClasses: ["Passwords", "Phone numbers"] });
    await setBreach(org, low, { dataClasses: ["Names", "Home addresses"] });
    await settleRules(org);
    expect(await statesOf(org, { breachId: secret })).toEqual(["left", ...all("open", 5)]);
    expect(await statesOf(org, { breachId: low })).toEqual(["left", ...all("open", 5)]);
    await expectAgreement(org);
  });

  test("that rise leave to rules what rules have ended, and reopen the rest", async () => {
    const { org, emailIds, low } = await seed();
    await switchRule(org, "left", true);
    await setPerson(org, emailIds[0] ?? 0, gone);
    await settleRules(org);
    const [, second] = await findingsOf(org, { breachId: low });
    await single.acknowledge(org, { id: second?.id ?? 0, resolution: "handled" }, somebody);
    await setBreach(org, low, { dataClasses: ["Passwords"] });
    await settleRules(org);
    expect(await statesOf(org, { breachId: low })).toEqual(["left", ...all("open", 5)]);
    expect((await logOf(org)).filter((entry) => entry.includes("Reopened"))).toHaveLength(1);
    // A rule that is off decides nothing any more.
    await setBreach(org, low, { dataClasses: ["Names"] });
    await switchRule(org, "left", false);
    await settleRules(org);
    await setBreach(org, low, { dataClasses: ["Passwords"] });
    await settleRules(org);
    expect(await statesOf(org, { breachId: low })).toEqual(all("open", 6));
    await expectAgreement(org);
  });
});

test("changes wait until the first of them is old enough, switches do not", async () => {
  const { org, emailIds } = await seed();
  await switchRule(org, "left", true);
  await settleRules(org);
  await setPerson(org, emailIds[0] ?? 0, gone);
  await work({ organizationId: org }, invocation(), { gatheringSeconds: 60 });
  expect(await marks.read(org, 10)).toHaveLength(1);
  await work({ organizationId: org }, invocation(), { gatheringSeconds: 0 });
  expect(await marks.read(org, 10)).toEqual([]);
  await settleRules(org);
  await switchRule(org, "harmless", true);
  await takeMessages("acknowledgements");
  await work({ organizationId: org }, invocation(), { gatheringSeconds: 60 });
  expect(await table.get(keys.rulesLock(org))).toBeDefined();
});

test("what a person reopens just before a rule's transaction stays open", async () => {
  const { org, low } = await seed();
  const [first = 0] = (await findingsOf(org, { breachId: low })).map(({ id }) => id);
  await switchRule(org, "harmless", true);
  await work({ organizationId: org }, invocation());
  const people = onTableRequest({ text: "Low severity: Names" }, "before", async () => {
    // Open again, it looks as it was read.
    await single.acknowledge(org, { id: first, resolution: "handled" }, somebody);
    const { id } = await acknowledgements.request(org, { ids: [first] }, somebody);
    await work({ organizationId: org, acknowledgementId: id }, invocation());
  });
  await runWorkers();
  expect(people.happened).toBe(true);
  await settleRules(org);
  expect(await statesOf(org, { breachId: low })).toEqual(["open", ...all("harmless", 5)]);
  await expectAgreement(org);
});

test("while a scan is in progress a switch counts, and once more after it", async () => {
  const { org, emailIds, low } = await seed();
  const lock = { ...keys.scanLock(org), scanId: 77 };
  await table.put(lock);
  await switchRule(org, "harmless", true);
  await work({ organizationId: org }, invocation());
  await runWorkers();
  expect((await statesOf(org, { breachId: low }))[0]).toBe("harmless");
  expect(await marks.read(org, 10)).toMatchObject([{ isWhole: true, after: 77 }]);
  // The scan has read that the rule is off, and writes an open finding still.
  const late = ++breaches;
  await setBreach(org, late, { dataClasses: ["Names"] });
  await settle(org).catch(() => {});
  const row = { emailId: emailIds[0] ?? 0, breachId: late, severity: 1 };
  await addFindings(org, [row], await idsInNewBlock(org, 1));
  await table.remove(lock);
  await settleRules(org);
  expect(await statesOf(org, { breachId: late })).toEqual(["harmless"]);
  expect(await marks.read(org, 10)).toEqual([]);
});

test("a worker that dies at any of its requests is followed by one that finishes", async () => {
  const prepare = async () => {
    const seeded = await seed();
    const { org, emailIds, secret } = seeded;
    for (const rule of rulesInOrder) await switchRule(org, rule, true);
    await setPerson(org, emailIds[0] ?? 0, gone);
    await settleRules(org);
    await setPerson(org, emailIds[0] ?? 0, ada);
    await setPerson(org, emailIds[1] ?? 0, gone);
    await setBreach(org, secret, { dataClasses: ["Passwords", "Names"] });
    return seeded;
  };
  const act = async (org: number) => {
    await work({ organizationId: org }, invocation());
    await runWorkers();
  };
  const first = await prepare();
  const requests = await killedAfter(Number.POSITIVE_INFINITY, () => act(first.org));
  expect(requests).toBeGreaterThan(15);
  for (let number = 1; number <= requests; number += 6) {
    const { org, emailIds } = await prepare();
    await killedAfter(number, () => act(org));
    await settleRules(org);
    expect(await statesOf(org, { emailId: emailIds[0] ?? 0 })).toEqual(["open", "harmless", "open"]);
    expect(await statesOf(org, { emailId: emailIds[1] ?? 0 })).toEqual(["left", "harmless", "left"]);
    const told = await table.query<{ findingIds: Set<number> }>({ pk: keys.outbox(org, "").pk });
    expect(told.flatMap(({ findingIds = new Set() }) => [...findingIds])).toHaveLength(2);
    await expectAgreement(org);
  }
});

test("after random histories with kills each finding is as its facts say", async () => {
  const seedNumber = Number(process.env.SEED ?? 20_300_102);
  const drawn = fc.sample(fc.noBias(fc.nat()), { seed: seedNumber, numRuns: 2_000 });
  const pick = (below: number): number => (drawn.pop() ?? 0) % below;
  const { org, emailIds, secret, low, card } = await seed();
  const ids = [secret, low, card];
  const classes = [
    ["Passwords"],
    ["Names"],
    ["Passwords", "Phone numbers"],
    ["Auth tokens", "Names"],
    ["PINs"],
  ];
  const dates = [
    "2025-06-01T00:00:00.000Z",
    "2026-02-20T00:00:00.000Z",
    "2026-11-03T00:00:00.000Z",
    undefined,
  ];
  /** Findings that a person has acknowledged or reopened last, by the model's own account. */
  const reopenedByPeople = new Set<number>();
  const anyFinding = async () => {
    const rows = await readFindings(org);
    return rows[pick(rows.length)];
  };
  const moves: Record<string, () => Promise<unknown>> = {
    person: () => {
      const [leftAt, passwordChangedAt] = [dates[pick(4)], dates[pick(4)]];
      const person = { ...ada, ...(leftAt && { leftAt }), ...(passwordChangedAt && { passwordChangedAt }) };
      return setPerson(org, emailIds[pick(emailIds.length)] ?? 0, person);
    },
    breach: () =>
      setBreach(org, ids[pick(3)] ?? 0, {
        dataClasses: classes[pick(classes.length)] ?? [],
        isStealerLog: pick(6) === 0,
        breachDate: pick(6) === 0 ? "1970-01-01" : "2026-01-31",
      }),
    switch: () => switchRule(org, rulesInOrder[pick(3)] as RuleId, pick(3) > 0),
    acknowledge: async () => {
      const row = await anyFinding();
      if (row !== undefined) await single.acknowledge(org, { id: row.id, resolution: "handled" }, somebody);
    },
    acknowledgeMany: () => requestAll(org, { acknowledged: false, breachId: ids[pick(3)] ?? 0 }),
    reopen: async () => {
      const row = await anyFinding();
      if (row === undefined || row.acknowledgment === undefined) return;
      const { id } = await acknowledgements.request(org, { ids: [row.id] }, somebody);
      await runWorkers();
      if ((await acknowledgements.getReopening(org, id)).reopened === 1) reopenedByPeople.add(row.id);
    },
    remove: async () => {
      if (pick(6) === 0) await removals.remove(org, emailIds[pick(emailIds.length)] ?? 0, somebody);
    },
    begin: () => work({ organizationId: org }, invocation()),
    work: () => runWorkers(),
    follow: () => follow(org),
  };
  const names = [...Object.keys(moves), "person", "begin", "work"];
  for (let step = 0; step < 150; step++) {
    const name = names[pick(names.length)] ?? "work";
    const act = () => moves[name]?.() ?? Promise.resolve();
    const isKilled = ["begin", "work", "follow"].includes(name) && pick(3) > 0;
    if (isKilled) await killedAfter(pick(26), act).catch(() => {});
    else await act().catch((error: unknown) => expect(error).toHaveProperty("refusal"));
  }
  await settleRules(org);
  const { on } = await switches.read(org);
  const rows = await readFindings(org);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    const [state, email] = [stateOf(row), await emails.get(org, row.emailId)];
    const breach = (await table.get<Breach>(keys.breach(row.breachId))) as Breach;
    const of = { ...email?.person, ...breach };
    const holding = rulesInOrder.filter((rule) => on.has(rule) && mayEnd[rule]?.(of, Date.now()));
    const hint = `SEED=${seedNumber} ${JSON.stringify({ state, of, row, on: [...on] })}`;
    if (reopenedByPeople.has(row.id)) expect(["open", "person"], hint).toContain(state);
    else if (state === "open") expect(holding.length === 0 || row.isReopened === true, hint).toBe(true);
    else if (on.has(state as RuleId)) expect(holding, hint).toContain(state);
    if (state === "person") expect(row.acknowledgment?.by, hint).toEqual(somebody);
  }
  const counted = await ruleList.list(org, new Date());
  for (const { id, ended } of counted) {
    const total = rows.filter((row) => stateOf(row) === id).length;
    expect(ended).toEqual({ total, lastWeek: total });
  }
  await expectAgreement(org);
});
