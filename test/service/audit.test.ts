import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { entries } from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import type * as users from "../../shared/access/members/user.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import type { Change } from "../../shared/aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { type FindingRecord, findings } from "../../shared/findings/record.ts";
import { blockOf } from "../../shared/lists/blocks.ts";
import type { Directory } from "../../shared/lists/directory.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import { find } from "../../shared/monitoring/emails/email-list.ts";
import { type Email, emails } from "../../shared/monitoring/emails/record.ts";
import { audit, type Report } from "../../shared/operations/audit/audit.ts";
import { scans } from "../../shared/scanning/record.ts";
import { admin } from "./admin.ts";
import { untilDelivered } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { receivedAt } from "./receiver.ts";
import { scan } from "./scan.ts";

/** Local parts of addresses; all but the last are in the built-in breaches. */
const people = ["ada", "alan", "edsger", "grace", "nobody"];

let org: number;
let organization: Organization;

type Members = { emails: Email[]; findings: FindingRecord[] };

const members = async (): Promise<Members> => {
  const all = async <M>(list: {
    directory: (org: number) => Promise<Directory>;
    members: (org: number, block: number) => Promise<M[]>;
  }) => {
    const rows = await list.directory(org);
    return (await Promise.all(rows.map(({ block }) => list.members(org, block)))).flat();
  };
  return { emails: await all(emails), findings: await all(findings) };
};

/**
 * Creates an organization with channels, scans, acknowledgments, removals, disabled e-mails and deliveries.
 */
const createUsed = async (): Promise<void> => {
  organization = await createOrganization();
  const { api, domain, domainId } = organization;
  org = organization.id;
  const { id: teamId } = await admin("team create", { org, name: "Team" });
  await admin("user create", { org, email: "admin@demo.example" });
  const left = await admin("user create", { org, email: "left@demo.example" });
  await admin("user remove", { org, user: left.id });
  const hook = `${inject("receiverUrl")}/check-${org}`;
  await api.post("/alert-configs", { channel: "webhook", config: { url: hook }, notifyOnScanComplete: true });
  for (const name of people) {
    const added = await api.post("/emails", {
      email: `${name}@${domain}`,
      domainId,
      ...(name === "ada" && { teamId }),
    });
    expect(added.status).toBe(201);
  }
  await scan(api);
  const { body } = await api.get("/breaches");
  const found = body.breaches as { id: number; email: string; emailId: number }[];
  expect(found.length).toBeGreaterThan(3);
  await api.post("/breaches/acknowledge", { id: found[0]?.id });
  const removed = found.find(({ email }) => email.startsWith("grace"))?.emailId ?? 0;
  expect((await api.delete(`/emails?id=${removed}`)).status).toBe(200);
  const { body: listed } = await api.get("/emails");
  const nobody = (listed.emails as { id: number; email: string }[]).find(({ email }) =>
    email.startsWith("nobody"),
  );
  expect((await api.patch(`/emails/${nobody?.id}`, { isActive: false })).status).toBe(200);
  await scan(api);
  await eventually(
    () => receivedAt(hook),
    (received) => received.length >= 3,
  );
};

const damage = (key: Key, change: Change) => table.update(key, change);

const summary = ({ differences, unsettled }: Report) => ({
  differences: differences.map(({ kind, id, repaired }) => `${kind} ${id}${repaired ? " repaired" : ""}`),
  unsettled,
});

/**
 * Asserts that an audit finds and repairs exactly these subjects. If something were still wrong afterwards, the audit of the next test would
 * find that too.
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

beforeAll(async () => {
  await createUsed();
  // No worker undoes damage.
  await untilDelivered(org);
});

test("an undamaged organization has no differences, and all its rows are read", async () => {
  const report = await audit(org);
  expect(summary(report)).toEqual({ differences: [], unsettled: [] });
  const rows = await members();
  expect(report.checked).toMatchObject({
    emails: { rows: people.length - 1 },
    findings: { rows: rows.findings.length },
    scans: { rows: 2 },
    deliveries: { rows: deliveries.sum(await deliveries.directory(org)) },
    domains: { rows: 1 },
    channels: { rows: 1 },
  });
  expect(report.checked.activity?.rows).toBe(entries.sum(await entries.directory(org)));
});

describe("damage is found with its id and repaired:", () => {
  let email: Email;
  let finding: FindingRecord;
  let scanId: number;
  beforeEach(async () => {
    const all = await members();
    const held = all.emails.find((row) => Object.keys(row.findings).length > 0 && row.unacknowledged > 0);
    email = held as Email;
    finding = all.findings.find(
      (row) => row.emailId === email.id && row.acknowledgment === undefined,
    ) as FindingRecord;
    scanId = findings.groupOf(finding).scanId as number;
  });

  const listed: [ListKind, { directory: (org: number) => Promise<Directory> }][] = [
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
        const [row] = await list.directory(org);
        const block = row?.block ?? 0;
        const counts = [...(row?.counts ?? [])].filter(([, count]) => count > 0).sort();
        return {
          key: keys.directory(org, kind, block),
          subject: `${kind.toLowerCase()} block ${block}`,
          counts,
        };
      }),
    );
  test("counters of the directory of every list", async () => {
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

  test("lost directory rows of every list", async () => {
    const blocks = await latestBlocks();
    for (const { key } of blocks) {
      for (const row of await table.query<Key>({ pk: key.pk, prefix: key.sk })) await table.remove(row);
    }
    await expectFoundAndRepaired(...blocks.map(({ subject }) => subject));
    expect(await latestBlocks()).toEqual(blocks);
  });

  test.each([
    ["behind the ids in use", { next: 1, left: 511 }],
    ["of a block that was never drawn", { block: 1_000_000, next: 1_024_000_001, left: 1_024 }],
  ])("a list head %s; afterwards ids are handed out again", async (_, change) => {
    await damage(keys.listHead(org, "EMAIL"), { set: change });
    await expectFoundAndRepaired(`email ids ${org}`);
    const { api, domain, domainId } = organization;
    const added = await api.post("/emails", { email: `again${Date.now()}@${domain}`, domainId });
    const all = await members();
    expect(added.body.id).toBe(Math.max(...all.emails.map(({ id }) => id)));
    expect((await api.delete(`/emails?id=${added.body.id}`)).status).toBe(200);
  });

  test("heads of lists, the time of a directory row, and seats, at once", async () => {
    const block = blockOf(email.id);
    await damage(keys.directory(org, "EMAIL", block), {
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
    // By the right number even if a directory row is wrong too.
    const active = emails.sum(await emails.directory(org), ({ isActive }) => isActive);
    expect(differences.find(({ kind }) => kind === "seats")?.says).toContain(
      `active is ${active + 2}, should be ${active}`,
    );
  });

  test("rows of an e-mail's address and its counts; afterwards it is unique again", async () => {
    const others = (await members()).emails.filter(({ id }) => id !== email.id);
    const [second, third] = others as [Email, Email];
    await damage(emails.key(org, email.id), { add: { unacknowledged: 1 } });
    await damage(emails.key(org, email.id), { add: { gone: new Set([finding.breachId]) } });
    await table.remove(keys.address(org, email.email));
    await damage(keys.address(org, second.email), { set: { emailId: 999_999 } });
    await assign(org, third.id, { ownerName: "Ada Lovelace" }, administrator);
    await damage(keys.address(org, third.email), { remove: ["domainId"] });
    await table.remove(keys.ownerWord(org, "lovelace", third.id));
    const report = await audit(org, { repair: true });
    const found = new Set(report.differences.map(({ kind, id }) => `${kind} ${id}`));
    expect(found).toEqual(new Set([email, second, third].map(({ id }) => `e-mail ${id}`)));
    expect(summary(await audit(org))).toEqual({ differences: [], unsettled: [] });
    expect(await find(org, "lovel", { limit: 10, offset: 0 })).toMatchObject({ total: 1 });
    const again = { email: email.email, domainId: organization.domainId };
    expect((await organization.api.post("/emails", again)).status).toBe(409);
  });

  test("a finding that its e-mail does not hold", async () => {
    await damage(emails.key(org, email.id), {
      remove: [`findings.${finding.breachId}`],
      add: { unacknowledged: -1, [`open${findings.groupOf(finding).severity}`]: -1 },
    });
    await expectFoundAndRepaired(`finding ${finding.id}`);
    expect((await emails.get(org, email.id))?.findings[finding.breachId]).toBe(finding.id);
  });

  test("a finding that is lost although its e-mail holds it; the next scan finds it", async () => {
    await table.transact(findings.writes(org, [findings.delete(org, finding.id, findings.groupOf(finding))]));
    // Those of all findings, and those of what is new.
    await expectFoundAndRepaired(`counts ${org}`, `counts ${org}`, `e-mail ${email.id}`);
    expect(await scan(organization.api)).toMatchObject({ newBreachesFound: 1 });
    await untilDelivered(org);
  });

  test("a second finding of one breach and e-mail, and findings of a removed e-mail", async () => {
    const { pk: _, sk: __, id, group: ___, createdAt, ...item } = finding;
    await damage(keys.listHead(org, "FINDING"), { add: { next: 401, left: -401 } });
    const orphan = { ...item, email: "gone@demo.example", emailId: 999_999 };
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
    expect(summary(await audit(org))).toEqual({ differences: [], unsettled: [] });
    for (const further of [300, 400]) expect(await findings.get(org, id + further)).toBeUndefined();
    expect(await findings.get(org, id)).toBeDefined();
  });

  test("an acknowledged finding that counts as unacknowledged", async () => {
    const by = { type: "system", id: null, label: "X" };
    const acknowledgment = { at: finding.createdAt, by, resolution: "handled", reason: null };
    await damage(findings.key(org, finding.id), { set: { acknowledgment } });
    await audit(org, { repair: true });
    expect(summary(await audit(org))).toEqual({ differences: [], unsettled: [] });
    const { body } = await organization.api.get("/breaches?acknowledged=true");
    expect((body.breaches as { id: number }[]).map(({ id }) => id)).toContain(finding.id);
  });

  test("rows beside the lists' own, all damaged at once", async () => {
    const all = await table.query<users.User>({ pk: keys.user(org, 0).pk });
    const [removed, user] = [true, false].map((is) => all.find((each) => (each.removed === true) === is));
    const address = (of: users.User | undefined) => of?.email ?? "";
    const latest = async <M extends { id: number }>(list: {
      directory: (org: number) => Promise<Directory>;
      members: (org: number, block: number) => Promise<M[]>;
    }) => list.members(org, (await list.directory(org))[0]?.block ?? 0);
    const [entry] = await latest(entries);
    const [ended, open] = await latest(deliveries);
    const never = "2999-01-01T00:00:00.000Z";

    await damage(keys.channelCount(org), { add: { channels: 7 } });
    await table.remove(keys.domainName(org, organization.domain));
    await table.put({ ...keys.domainName(org, "other.example"), id: 999_999 });
    // How a user's address is found: the one who is there not, the one who was removed still.
    await table.remove(keys.signInAddress(address(user), org));
    const signIn = { organizationId: org, userId: removed?.id };
    await table.put({ ...keys.signInAddress(address(removed), org), ...signIn });
    await damage(entries.key(org, entry?.id ?? 0), { set: { category: "alerts" } });
    await damage(scans.key(org, scanId), { set: { newBreachesFound: 0 } });
    // The lock of a scan that is over.
    await table.put({ ...keys.scanLock(org), scanId, dueShard: `SCAN#${org % 4}`, dueAt: never });
    await damage(deliveries.key(org, ended?.id ?? 0), { set: { dueShard: "DELIVERY#0", dueAt: never } });
    await damage(deliveries.key(org, open?.id ?? 0), { set: { status: "retrying" } });
    await table.put({ ...keys.removal(org, 999_998), findings: [] });
    await table.remove(keys.organizations(org));

    await expectFoundAndRepaired(
      `channel count ${org}`,
      `domain ${organization.domainId}`,
      "domain name 999999",
      `sign-in ${user?.id}`,
      `sign-in name ${removed?.id}`,
      `activity entry ${entry?.id}`,
      `scan ${scanId}`,
      `scan lock ${org}`,
      `delivery ${ended?.id}`,
      `delivery ${open?.id}`,
      "removal 999998",
      `organization ${org}`,
    );
    await table.remove(keys.removal(org, 999_998));
    await expect(admin("user create", { org, email: address(user) })).rejects.toThrow("already has");
    expect((await scan(organization.api)).status).toBe("completed");
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

describe("damage that cannot be repaired is reported:", () => {
  test("an e-mail's row that is lost while its address row and findings are there", async () => {
    const { emails: rows } = await members();
    const lost = rows.find((row) => Object.keys(row.findings).length > 0) as Email;
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

  test("an e-mail whose domain is not there", async () => {
    const { emails: rows } = await members();
    const row = rows[0] as Email;
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

test("a report holds no address and no secret", async () => {
  const { emails: rows } = await members();
  for (const row of rows) await damage(emails.key(org, row.id), { add: { unacknowledged: 1 } });
  for (const row of rows) await table.remove(keys.address(org, row.email));
  await table.remove(keys.domainName(org, organization.domain));
  const report = await audit(org, { repair: true });
  expect(report.repairedCount).toBe(2 * rows.length + 1);
  expect(JSON.stringify(report)).not.toMatch(/@|demo\.example|127\.0\.0\.1|bms_/);
});
