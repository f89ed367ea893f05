import { beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { newLock } from "../../shared/findings/acknowledgements/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import {
  createWithFindings,
  ended,
  type Finding,
  findingCount,
  findingsOf,
  reopen,
  reopened,
  requestMany,
} from "./acknowledgement.ts";
import { expectRefusal, timestamp, unknownId } from "./reply.ts";

/** The tests share it. */
let organization: Organization;
beforeAll(async () => {
  organization = await createWithFindings();
});
/** By the command line, which no limit counts. */
const reopenAll = () => admin("finding reopen", { org: organization.id, all: true });

describe("202", () => {
  test("by ids and a key: those findings as if acknowledged alone, and no other", async () => {
    const { api, keyId } = organization;
    const before = await findingsOf(organization);
    const [first] = before as [Finding];
    const ofOther = before.filter(({ emailId }) => emailId !== first.emailId);
    const chosen = [first, ofOther[1]] as Finding[];
    const ids = chosen.map(({ id }) => id);
    const reply = await requestMany(api, { ids: [...ids, ...ids], reason: "Password changed" });
    expect(reply).toMatchObject({ status: 202, body: { id: expect.any(Number), matching: 2 } });
    const { createdAt, ...done } = await ended(api, reply);
    expect(done).toEqual({
      id: reply.body.id,
      status: "completed",
      matching: 2,
      acknowledged: 2,
      completedAt: timestamp,
    });
    expect(await findingsOf(organization)).toEqual(
      before.map((finding) =>
        ids.includes(finding.id)
          ? {
              ...finding,
              acknowledged: true,
              acknowledgedAt: createdAt,
              acknowledgedBy: null,
              acknowledgedByApiKey: { id: keyId, label: "Test key" },
              acknowledgeReason: "Password changed",
              resolution: "handled",
            }
          : finding,
      ),
    );
    expect((await api.get("/breaches?acknowledged=false")).body).toMatchObject({
      total: findingCount - 2,
      unacknowledged: findingCount - 2,
    });
    for (const { breachCount, unacknowledgedBreachCount } of await api.list("/emails"))
      expect(unacknowledgedBreachCount).toBe(breachCount - 1);
  });

  test("by an empty filter and a user: all findings, with one log entry of the user", async () => {
    await reopenAll();
    const user = await signedIn(organization.id);
    const [first] = await findingsOf(organization);
    await organization.api.post("/breaches/acknowledge", { id: first?.id });
    const reply = await requestMany(user.v1, { filter: {}, resolution: "ignored" });
    expect(reply).toMatchObject({ status: 202, body: { matching: findingCount } });
    const { createdAt, acknowledged } = await ended(user.v1, reply);
    expect(acknowledged).toBe(findingCount);
    for (const finding of await findingsOf(organization)) {
      expect(finding).toMatchObject({
        acknowledged: true,
        acknowledgedAt: createdAt,
        acknowledgedBy: { id: user.userId, label: user.email },
        acknowledgedByApiKey: null,
        acknowledgeReason: null,
        resolution: "ignored",
      });
    }
    expect(await user.v1.list("/activity?category=findings&limit=2")).toMatchObject([
      {
        action: "findings.acknowledged",
        category: "findings",
        summary: `Acknowledged ${findingCount} breach findings as ignored`,
        actor: { type: "user", label: user.email },
      },
      { action: "finding.acknowledged" },
    ]);
  });
});

describe("200", () => {
  test("shows while it is in progress how many are acknowledged so far", async () => {
    const { id: org, api } = await createOrganization();
    const id = 77;
    const requestedAt = "2026-01-01T00:00:00.000Z";
    const row = { id, status: "running", matching: 500, completedAt: null, requestedAt };
    await table.put({ ...keys.acknowledgement(org, id), ...row });
    await table.put({ ...keys.acknowledgementLock(org), ...newLock(org, id), acknowledged: 60 });
    expect((await api.get(`/breaches/acknowledgements/${id}`)).body).toEqual({
      id,
      status: "running",
      matching: 500,
      acknowledged: 60,
      createdAt: requestedAt,
      completedAt: null,
    });
  });

  test("a dry run tells how many match, whatever is in progress, and changes nothing", async () => {
    await reopenAll();
    const { id: org, api, domainId } = organization;
    const before = await findingsOf(organization);
    const logged = async () => (await api.get("/activity?category=findings")).body.total;
    const loggedBefore = await logged();
    const [{ id, emailId, breach, firstDetectedScanId: scanId }] = before as [Finding];
    const every = {
      emailId,
      breachId: breach.id,
      scanId,
      domainId,
      acknowledged: false,
      severity: ["critical", "high", "medium", "low"],
      detectedBefore: "2999-01-01T00:00:00+02:00",
    };
    // As while a worker is at work on a long one.
    await table.put({ ...keys.acknowledgementLock(org), acknowledgementId: 1 });
    for (const [what, matching] of [
      [{ filter: { acknowledged: false } }, findingCount],
      [{ filter: every }, 1],
      [{ ids: [id, before[1]?.id] }, 2],
      [{ filter: { ids: [id, id, before[1]?.id, unknownId], acknowledged: false } }, 2],
      [{ filter: { ids: before.map((finding) => finding.id), emailId, breachId: breach.id } }, 1],
    ] as const) {
      const reply = await requestMany(api, { ...what, dryRun: true });
      expect(reply).toMatchObject({ status: 200 });
      expect(reply.body).toEqual({ matching });
      const refused = await requestMany(api, what);
      expectRefusal(refused, 409, /being acknowledged/, { code: "acknowledgement_in_progress" });
    }
    expect(await findingsOf(organization)).toEqual(before);
    expect(await logged()).toBe(loggedBefore);
    expect((await api.post("/breaches/acknowledge", { id })).status).toBe(200);
    await table.remove(keys.acknowledgementLock(org));
    const nothing = await requestMany(api, { filter: every });
    expect(nothing.body.matching).toBe(0);
    // The next test's request would be refused meanwhile.
    await ended(api, nothing);
  });

  test("of chosen findings leaves what a colleague acknowledged; Undo leaves it too", async () => {
    await reopenAll();
    const { api } = organization;
    const ids = (await findingsOf(organization)).slice(0, 3).map(({ id }) => id);
    const [colleagues] = ids;
    expect((await api.post("/breaches/acknowledge", { id: colleagues, reason: "Mine" })).status).toBe(200);
    const reply = await requestMany(api, { filter: { ids, acknowledged: false }, reason: "Theirs" });
    const { createdAt, ...done } = await ended(api, reply);
    expect(done).toMatchObject({ matching: 2, acknowledged: 2 });
    const activity = await api.list("/activity?category=findings");
    expect(activity[0]).toMatchObject({
      summary: "Acknowledged 2 breach findings (chosen by id, open) as handled: Theirs",
    });

    const filter = { ids, acknowledged: true, acknowledgedAt: createdAt };
    expect(await reopened(api, await reopen(api, { filter }))).toMatchObject({ matching: 2, reopened: 2 });
    const acknowledged = (await findingsOf(organization)).filter((each) => each.acknowledged);
    expect(acknowledged).toMatchObject([{ id: colleagues, acknowledgeReason: "Mine" }]);
    expect((await api.list("/activity?category=findings"))[0].summary).toBe(
      `Reopened 2 breach findings (chosen by id, acknowledged, acknowledged at ${createdAt})`,
    );
  });
});

describe("admin finding acknowledge", () => {
  test("acknowledges as flags say, waits, and tells the result", async () => {
    await reopenAll();
    const { id: org } = organization;
    const all = await findingsOf(organization);
    const [first, second] = all as [Finding, Finding];
    expect(await admin("finding acknowledge", { org, all: true, "dry-run": true })).toEqual({
      matching: findingCount,
    });
    const ids = `${first.id},${second.id}`;
    const some = { org, ids, resolution: "ignored", reason: "Known" };
    expect(await admin("finding acknowledge", some)).toEqual({
      id: expect.any(Number),
      status: "completed",
      matching: 2,
      acknowledged: 2,
      createdAt: timestamp,
      completedAt: timestamp,
    });
    const rest = { org, acknowledged: "false", email: first.emailId, reason: "Told" };
    const matching = all.filter(({ id, emailId }) => emailId === first.emailId && id !== first.id);
    expect(await admin("finding acknowledge", rest)).toMatchObject({
      acknowledged: matching.filter(({ id }) => id !== second.id).length,
    });
    const activity = await organization.api.list("/activity?category=findings&limit=2");
    const actor = { type: "system", label: "Administrator" };
    expect(activity).toMatchObject([
      { summary: expect.stringContaining(`(e-mail ${first.email}, open) as handled: Told`), actor },
      { summary: "Acknowledged 2 breach findings as ignored: Known", actor },
    ]);
  });

  test.each<[flags: Record<string, string | true>, error: RegExp]>([
    [{}, /Give --ids, or --all, or filters/],
    [{ all: true, scan: "1" }, /only one/],
    [{ ids: "1,x" }, /--ids/],
    [{ ids: "0x2" }, /--ids: must be a whole number/],
    [{ all: true, reason: " " }, /^--reason: must say why\.$/],
    [{ ids: String(unknownId) }, /No breach finding/],
    [{ all: true, resolution: "done" }, /--resolution/],
    [{ before: "yesterday" }, /--before/],
  ])("%j is refused with a sentence", async (flags, error) => {
    const { id: org } = await admin("org create", { name: "Refusing", "scan-every": "never" });
    await expect(admin("finding acknowledge", { org, reason: "Known", ...flags })).rejects.toThrow(error);
  });
});
