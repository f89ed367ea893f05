import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entries } from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as users from "../../shared/access/members/user.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import type { Change } from "../../shared/aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as acknowledging from "../../shared/findings/finding.ts";
import { type FindingRecord, findings } from "../../shared/findings/record.ts";
import { blockOf } from "../../shared/lists/blocks.ts";
import type { Tally } from "../../shared/lists/tally.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import { find } from "../../shared/monitoring/emails/email-list.ts";
import { type Email, emails, openCount } from "../../shared/monitoring/emails/record.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { audit, type Report } from "../../shared/operations/audit/audit.ts";
import { scans } from "../../shared/scanning/record.ts";
import { createUser } from "../access/organizations/accounts.ts";
import { domain, findingsOf, inBreaches, rowsOf, useBreachedPeople } from "../alerting/breached-people.ts";
import { createChannel } from "../alerting/channels.ts";
import { sendAll, useMailServer } from "../alerting/mail-deliveries.ts";
import { expectAgreement } from "../findings/acknowledgements/findings.ts";
import { readScan } from "../scanning/in-process-workers.ts";

const people = 5;
/** All but the last person. */
const breached = inBreaches(people - 1, "Alpha", "Beta");

const { scan, organizationOf } = useBreachedPeople();
useMailServer();

let org: number;
let domainId: number;

/** No worker undoes damage, because every delivery has arrived. */
const scanAndDeliver = async (): Promise<number> => {
  const scanId = await scan(org, breached);
  await sendAll();
  return scanId;
};

const emailOf = (name: string) =>
  find(org, name, { limit: 1, offset: 0 }).then((found) => found.emails[0]?.id ?? 0);

/** An organization with users, a channel, scans, acknowledgments, removals, disabled e-mails and deliveries. */
beforeAll(async () => {
  org = await organizationOf(people);
  domainId = (await domains.list(org))[0]?.id ?? 0;
  const team = await teams.create(org, "Team", administrator);
  await assign(org, await emailOf("user0"), { teamId: team.id }, administrator);
  await createUser(org, "admin@acme.example");
  const left = await createUser(org, "left@acme.example");
  await users.remove(org, left.id);
  await createChannel(org, {}, undefined, { notifyOnScanComplete: true });
  await scanAndDeliver();
  const [found] = await findingsOf(org);
  await acknowledging.acknowledge(org, { id: found?.id ?? 0, resolution: "handled" }, administrator);
  await removals.remove(org, await emailOf("user3"), administrator);
  await monitored.setActive(org, await emailOf("user4"), false, administrator);
  await scanAndDeliver();
});

const damage = (key: Key, change: Change) => table.update(key, change);

const summary = ({ differences, unsettled }: Report) => ({
  differences: differences.map(({ kind, id, repaired }) => `${kind} ${id}${repaired ? " repaired" : ""}`),
  unsettled,
});

/**
 * Asserts that an audit finds and repairs exactly these subjects. If something were still wrong afterwards,
 * the audit of the next test would find that too.
 */
const expectFoundAndRepaired = async (...subjects: string[]): Promise<Report> => {
  const report = await audit(org, { repair: true });
  const { differences, unsettled } = summary(report);
  expect({ differences: differences.sort(), unsettled }).toEqual({
    differences: subjects.map((subject) => `${subject} repaired`).sort(),
    unsettled: [],
  });
  expect(report.repairedCount).toBe(report.differenceCount);
  return report;
};

test("an undamaged organization has no differences, and all its rows are read", async () => {
  const report = await audit(org);
  expect(summary(report)).toEqual({ differences: [], unsettled: [] });
  expect(report.checked).toMatchObject({
    emails: { rows: people - 1 },
    findings: { rows: (await findingsOf(org)).length },
    scans: { rows: 3 },
    deliveries: { rows: deliveries.sum(await deliveries.tally(org)) },
  });
  expect(report.checked.activity?.rows).toBe(entries.sum(await entries.tally(org)));
});

describe("repaired:", () => {
  let email: Email;
  let finding: FindingRecord;
  let scanId: number;
  beforeEach(async () => {
    const held = (await rowsOf(org, emails)).find(
      (row) => Object.keys(row.findings).length > 0 && openCount(row) > 0,
    );
    email = held as Email;
    finding = (await findingsOf(org)).find(
      (row) => row.emailId === email.id && row.acknowledgment === undefined,
    ) as FindingRecord;
    scanId = findings.groupOf(finding).scanId as number;
  });

  const listed: [ListKind, { tally: (org: number) => Promise<Tally> }][] = [
    ["EMAIL", emails],
    ["FINDING", findings],
    ["SCAN", scans],
    ["ACTIVITY", entries],
    ["DELIVERY", deliveries],
  ];

  /** The latest block of every list; `subject` is what a report calls it. */
  const latestBlocks = () =>
    Promise.all(
      listed.map(async ([kind, list]) => {
        const [row] = await list.tally(org);
        const block = row?.block ?? 0;
        const counts = [...(row?.counts ?? [])].filter(([, count]) => count > 0).sort();
        return {
          key: keys.tally(org, kind, block),
          subject: `${kind.toLowerCase()} block ${block}`,
          counts,
        };
      }),
    );
  test("counters of the tally of every list", async () => {
    const blocks = await latestBlocks();
    for (const { key, counts } of blocks) {
      await damage(key, { add: { [counts[0]?.[0] ?? ""]: 3, "9-9-9": 2 } });
    }
    const { differences } = await expectFoundAndRepaired(...blocks.map(({ subject }) => subject));
    for (const { subject, counts } of blocks) {
      const [groupKey, count = 0] = counts[0] ?? [];
      const { says } = differences.find(({ kind, id }) => `${kind} ${id}` === subject) ?? {};
      expect(says).toContain(`${groupKey} is ${count + 3}, should be ${count}`);
      expect(says).toContain("9-9-9 is 2, should be none");
    }
    expect(await latestBlocks()).toEqual(blocks);
  });

  test("lost tally rows of every list", async () => {
    const blocks = await latestBlocks();
    for (const { key } of blocks) {
      for (const row of await table.query<Key>({ pk: key.pk, prefix: key.sk })) await table.remove(row);
    }
    await expectFoundAndRepaired(...blocks.map(({ subject }) => subject));
    expect(await latestBlocks()).toEqual(blocks);
  });

  test.each([
    ["behind the ids in use", { next: 1, left: 511 }],
    ["that counts too few blocks", { blocks: 0 }],
    ["of a block that was never drawn", { block: 1_000_000, next: 1_024_000_001, left: 1_024 }],
  ])("a list head %s; afterwards ids are handed out again", async (_, change) => {
    await damage(keys.listHead(org, "EMAIL"), { set: change });
    await expectFoundAndRepaired(`email ids ${org}`);
    const added = await monitored.add(org, { email: `again@${domain}`, domainId }, administrator);
    expect(added).toBe(Math.max(...(await rowsOf(org, emails)).map(({ id }) => id)));
    await removals.remove(org, added, administrator);
  });

  test("heads of lists, the time of a tally row, and seats, at once", async () => {
    const block = blockOf(email.id);
    await damage(keys.tally(org, "EMAIL", block), {
      set: { from: Date.parse("2999-01-01T00:00:00.000Z") },
      add: { [email.group]: 5 },
    });
    await damage(keys.listHead(org, "EMAIL"), { set: { left: 3 } });
    await table.remove(keys.listHead(org, "FINDING"));
    await damage(keys.seats(org), { add: { active: 2 } });
    // Without `repair` nothing is repaired.
    const { differenceCount, repairedCount } = await audit(org);
    expect([differenceCount > 2, repairedCount]).toEqual([true, 0]);
    const { differences } = await expectFoundAndRepaired(
      `email block ${block}`,
      `email ids ${org}`,
      `finding ids ${org}`,
      `seats ${org}`,
    );
    // By the right number even if a tally row is wrong too.
    const active = emails.sum(await emails.tally(org), ({ isActive }) => isActive);
    expect(differences.find(({ kind }) => kind === "seats")?.says).toContain(
      `active is ${active + 2}, should be ${active}`,
    );
  });

  test("an e-mail's address row and counts; the address is unique again", async () => {
    const others = (await rowsOf(org, emails)).filter(({ id }) => id !== email.id);
    const [second, third] = others as [Email, Email];
    await damage(emails.key(org, email.id), { add: { open1: 1 } });
    await damage(emails.key(org, email.id), { add: { gone: new Set([finding.breachId]) } });
    await table.remove(keys.address(org, email.email));
    await damage(keys.address(org, second.email), { set: { emailId: 999_999 } });
    await assign(org, third.id, { ownerName: "Ada Lovelace" }, administrator);
    await damage(keys.address(org, third.email), { remove: ["domainId"] });
    await table.remove(keys.ownerWord(org, "lovelace", third.id));
    const report = await audit(org, { repair: true });
    const found = new Set(report.differences.map(({ kind, id }) => `${kind} ${id}`));
    expect(found).toEqual(new Set([email, second, third].map(({ id }) => `e-mail ${id}`)));
    await expectAgreement(org);
    expect(await find(org, "lovel", { limit: 10, offset: 0 })).toMatchObject({ total: 1 });
    await expect(monitored.add(org, { email: email.email, domainId }, administrator)).rejects.toMatchObject({
      refusal: "emailAlreadyMonitored",
    });
  });

  test("an e-mail under another exposure, or as by 1.0.0 under none", async () => {
    const right = emails.groupOf(email);
    expect(right.exposure).toBeGreaterThan(0);
    for (const exposure of [49, 0]) {
      const wrong = { ...right, exposure };
      await table.transact(emails.writes(org, [emails.change(org, email.id, { from: right, to: wrong })]));
      await expectFoundAndRepaired(`e-mail ${email.id}`);
      expect(emails.groupOf((await emails.get(org, email.id)) as Email)).toEqual(right);
    }
  });

  test("a finding that its e-mail does not hold", async () => {
    await damage(emails.key(org, email.id), {
      remove: [`findings.${finding.breachId}`],
      add: { [`open${findings.groupOf(finding).severity}`]: -1 },
    });
    await expectFoundAndRepaired(`finding ${finding.id}`);
    expect((await emails.get(org, email.id))?.findings[finding.breachId]).toBe(finding.id);
  });

  test("a lost finding that its e-mail holds; the next scan finds it", async () => {
    await table.transact(findings.writes(org, [findings.delete(org, finding.id, findings.groupOf(finding))]));
    // The counts of all findings and those of the news; the e-mail's row and the counter that it is in.
    const counted = [`counts ${org}`, `counts ${org}`];
    await expectFoundAndRepaired(...counted, `e-mail ${email.id}`, `e-mail ${email.id}`);
    expect(await readScan(org, await scanAndDeliver())).toMatchObject({ newBreachesFound: 1 });
  });

  test("a second finding of a breach, and findings of a removed e-mail", async () => {
    const { pk: _, sk: __, id, group: ___, createdAt, ...item } = finding;
    await damage(keys.listHead(org, "FINDING"), { add: { next: 401, left: -401 } });
    const orphan = { ...item, email: "gone@acme.example", emailId: 999_999 };
    for (const [further, row] of [
      [300, orphan],
      [400, item],
    ] as const) {
      const reserved = { id: id + further, createdAt, block: blockOf(id), blockFrom: createdAt };
      const put = findings.put(org, reserved, findings.groupOf(finding), row);
      await table.transact(findings.writes(org, [put]));
    }
    const found = (await audit(org, { repair: true })).differences.map(({ kind, id: at }) => `${kind} ${at}`);
    expect(found).toEqual(expect.arrayContaining([`finding ${id + 300}`, `finding ${id + 400}`]));
    await expectAgreement(org);
    for (const further of [300, 400]) expect(await findings.get(org, id + further)).toBeUndefined();
    expect(await findings.get(org, id)).toBeDefined();
  });

  test("an acknowledged finding that counts as unacknowledged", async () => {
    const by = { type: "system", id: null, label: "X" };
    const acknowledgment = { at: finding.createdAt, by, resolution: "handled", reason: null };
    await damage(findings.key(org, finding.id), { set: { acknowledgment } });
    await audit(org, { repair: true });
    await expectAgreement(org);
    const listed = await acknowledging.list(org, { limit: 100, offset: 0, acknowledged: true });
    expect(listed.breaches.map(({ id }) => id)).toContain(finding.id);
  });

  test("rows beside the lists' own, all damaged at once", async () => {
    const all = await table.query<users.User>({ pk: keys.user(org, 0).pk });
    const [removed, user] = [true, false].map((is) => all.find((each) => (each.removed === true) === is));
    const address = (of: users.User | undefined) => of?.email ?? "";
    const [ended, open] = await rowsOf(org, deliveries);
    const never = "2999-01-01T00:00:00.000Z";

    await damage(keys.channelCount(org), { add: { channels: 7 } });
    await table.remove(keys.domainName(org, domain));
    await table.put({ ...keys.domainName(org, "other.example"), id: 999_999 });
    // How a user's address is found: the one who is there not, the one who was removed still.
    await table.remove(keys.signInAddress(address(user), org));
    const signIn = { organizationId: org, userId: removed?.id };
    await table.put({ ...keys.signInAddress(address(removed), org), ...signIn });
    // The same of accounts at the identity provider.
    await damage(keys.user(org, user?.id ?? 0), { set: { identityId: "here" } });
    await damage(keys.user(org, removed?.id ?? 0), { set: { identityId: "gone" } });
    await table.put({ ...keys.signInIdentity("gone", org), ...signIn });
    // The lock of a scan that is over.
    await table.put({ ...keys.scanLock(org), scanId, dueShard: `SCAN#${org % 4}`, dueAt: never });
    await damage(deliveries.key(org, ended?.id ?? 0), { set: { dueShard: "DELIVERY#0", dueAt: never } });
    await damage(deliveries.key(org, open?.id ?? 0), { set: { status: "retrying" } });
    await table.put({ ...keys.removal(org, 999_998), findings: [] });
    await table.remove(keys.organizations(org));

    await expectFoundAndRepaired(
      `channel count ${org}`,
      `domain ${domainId}`,
      "domain name 999999",
      ...[1, 2].map(() => `sign-in ${user?.id}`),
      ...[1, 2].map(() => `sign-in name ${removed?.id}`),
      `scan lock ${org}`,
      `delivery ${ended?.id}`,
      `delivery ${open?.id}`,
      "removal 999998",
      `organization ${org}`,
    );
    await table.remove(keys.removal(org, 999_998));
    expect(await users.create(org, { email: address(user), name: null })).toBe("exists");
    await scanAndDeliver();
  });

  test("a scan in progress without the lock; afterwards the sweep finds it", async () => {
    const group = scans.groupOf((await scans.get(org, scanId)) as { group: string });
    await table.transact(
      scans.writes(org, [scans.change(org, scanId, { from: group, to: { ...group, status: "running" } })]),
    );
    await expectFoundAndRepaired(`scan ${scanId}`);
    expect(await table.get(keys.scanLock(org))).toMatchObject({ scanId, dueShard: `SCAN#${org % 4}` });
    await table.transact([
      { delete: keys.scanLock(org) },
      ...scans.writes(org, [scans.change(org, scanId, { from: { ...group, status: "running" }, to: group })]),
    ]);
  });
});

describe("reported:", () => {
  test("a lost row of an e-mail whose address row and findings remain", async () => {
    const lost = (await rowsOf(org, emails)).find((row) => Object.keys(row.findings).length > 0) as Email;
    const { pk, sk } = lost;
    await table.remove({ pk, sk });
    try {
      const report = await audit(org, { repair: true });
      const left = report.differences.filter(({ repaired }) => !repaired);
      expect(left.map(({ id }) => id).sort()).toEqual(Object.values(lost.findings).sort());
      expect(left[0]?.advice).toBe(
        `The row of e-mail ${lost.id} is lost: restore it from a backup of the table.`,
      );
    } finally {
      await table.put(lost);
      await audit(org, { repair: true });
    }
  });

  test("two e-mails of one address, until one of them is removed", async () => {
    const [one] = (await rowsOf(org, emails)) as [Email];
    await table.remove(keys.address(org, one.email));
    const second = await monitored.add(org, { email: one.email, domainId }, administrator);
    const left = async () =>
      (await audit(org, { repair: true })).differences.map(({ id, advice }) => ({ id, advice }));
    const advice = `If e-mail ${second} has the same address, remove one of the two.`;
    expect(await left()).toEqual([{ id: one.id, advice }]);
    await removals.remove(org, second, administrator);
    expect(await left()).toEqual([{ id: one.id, advice: undefined }]);
    expect(await table.get(keys.address(org, one.email))).toMatchObject({ emailId: one.id });
  });

  test("an e-mail whose domain is not there", async () => {
    const row = (await rowsOf(org, emails))[0] as Email;
    const from = emails.groupOf(row);
    const to = { ...from, domainId: 999_999 };
    await table.transact(emails.writes(org, [emails.change(org, row.id, { from, to })]));
    const report = await audit(org, { repair: true });
    const left = report.differences.filter(({ repaired }) => !repaired);
    expect(left.map(({ id }) => id)).toEqual([row.id]);
    await table.transact(emails.writes(org, [emails.change(org, row.id, { from: to, to: from })]));
    await audit(org, { repair: true });
  });
});

test("a report holds no address, no name and no secret", async () => {
  await assign(org, await emailOf("user1"), { ownerName: "Grace Hopper" }, administrator);
  await table.remove(keys.ownerWord(org, "hopper", await emailOf("user1")));
  const rows = await rowsOf(org, emails);
  for (const row of rows) await damage(emails.key(org, row.id), { add: { open1: 1 } });
  for (const row of rows) await table.remove(keys.address(org, row.email));
  await table.remove(keys.domainName(org, domain));
  const report = await audit(org, { repair: true });
  expect(report.repairedCount).toBe(2 * rows.length + 2);
  expect(JSON.stringify(report)).not.toMatch(/@|acme\.example|127\.0\.0\.1|hopper/i);
});
