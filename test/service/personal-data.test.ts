import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { LocalService } from "../../local/harness/service.ts";
import type { Item } from "../../shared/aws/table/condition.ts";
import * as table from "../../shared/aws/table/table.ts";
import { find } from "../../shared/monitoring/emails/email-list.ts";
import { list } from "../../shared/monitoring/unwatched/unwatched-list.ts";
import { mentionOf } from "../../shared/operations/personal-data/mention.ts";
import { intercept } from "../aws/table/intercept.ts";
import { createSession } from "../dashboard/signed-in.ts";
import { addEmail } from "../endpoints/emails.ts";
import { admin as adminOf } from "./admin.ts";
import { untilDelivered } from "./alert-channels.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

/**
 * One of the built-in breaches' addresses. It is erased everywhere, and each scan of its domain finds it: so
 * the service is the test's own.
 */
const address = "donald@demo.example";
const secret = "a secret that nobody may read";

/** Of the webhook. */
const options = { name: `SIEM of ${address}`, minSeverity: "high", sensitive: "discreet" };

let service: LocalService;
const admin = (command: string, flags: Parameters<typeof adminOf>[1]) =>
  adminOf(command, flags, service.apiUrl);

/** An address that is watched, is a user, gets alerts, and is named by what it did. */
const fill = async (): Promise<Organization> => {
  const organization = await createOrganization({}, { apiUrl: service.apiUrl });
  const { id: org, domainId, api } = organization;
  await addEmail(api, domainId, address);
  await addEmail(api, domainId, `not.${address}`);
  const otherId = await addEmail(api, domainId, "other@demo.example");
  await admin("user create", { org, email: "admin@demo.example", role: "admin" });
  const { id: userId } = await admin("user create", { org, email: address, name: "Donald", role: "admin" });
  const { v1, dashboard } = await createSession(org, { id: userId, email: address }, service.apiUrl);
  await admin("user sign-in-link", { org, user: userId });
  const renamed = await dashboard.patch(`/emails/${otherId}`, { ownerName: `c/o ${address}` });
  expect(renamed.status).toBe(200);
  await dashboard.post("/api-keys", { label: `key of ${address}` });
  expect((await dashboard.post("/teams", { name: `Team of ${address}` })).status).toBe(201);
  for (const recipients of [[address.toUpperCase()], ["security@demo.example", address]]) {
    expect((await v1.post("/alert-configs", { channel: "email", config: { recipients } })).status).toBe(201);
  }
  const url = `${inject("receiverUrl")}/personal-data-${org}`;
  const webhook = { channel: "webhook", config: { url, secret } };
  const { id: channelId } = (await v1.post("/alert-configs", webhook)).body;
  const whole = { ...options, grouping: "address", tellOwners: false };
  expect((await v1.put(`/alert-configs/${channelId}/options`, whole)).status).toBe(200);
  await scan(v1);
  const breaches = await v1.list("/breaches");
  for (const { id } of breaches) await v1.post("/breaches/acknowledge", { id, reason: `asked ${address}` });
  const path = `/breaches/${breaches[0]?.breach.id}`;
  expect((await dashboard.put(`${path}/assignee`, { userId })).status).toBe(200);
  expect((await dashboard.post(`${path}/comments`, { text: `asked ${address}` })).status).toBe(201);
  // Workers change no row any more.
  await untilDelivered(org);
  return organization;
};

let organization: Organization;
beforeAll(async () => {
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin);
  service = await startOwnService(["--memory", "--allow-origin", new URL(inject("receiverUrl")).origin]);
  organization = await fill();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service?.stop();
});

const rowsOf = async (org: number): Promise<Item[]> => {
  const rows: Item[] = [];
  for await (const page of table.scanPages())
    rows.push(...page.filter(({ pk }) => `${pk}#`.startsWith(`ORG#${org}#`)));
  return rows;
};

describe("a mention of an address", () => {
  const { isIn, replaced } = mentionOf("a.b@acme.com");
  test.each([
    ["a.b@acme.com", true],
    ["Removed A.B@ACME.COM.", true],
    ["<a.b@acme.com>, others", true],
    [{ deep: [{ label: "a.b@acme.com" }] }, true],
    [new Set(["a.b@acme.com"]), true],
    ["da.b@acme.com", false],
    ["a.b@acme.com.example", false],
    ["axb@acme.com", false],
    ["told 'a.b@acme.com' and *a.b@acme.com*", true],
    ["'a.b@acme.com' knows", true],
    ["'a.b@acme.com", false],
    ["o'a.b@acme.com", false],
    ["c+a.b@acme.com", false],
    [17, false],
    [null, false],
  ])("%j: %s", (value, expected) => {
    expect(isIn(value)).toBe(expected);
  });

  test("is replaced wherever it is, and nothing else changes", () => {
    const value = { at: 1, by: { label: "a.b@acme.com" }, texts: ["to a.b@acme.com and da.b@acme.com"] };
    expect(replaced(value)).toEqual({
      at: 1,
      by: { label: "[erased]" },
      texts: ["to [erased] and da.b@acme.com"],
    });
  });
});

test("org export writes all members of all lists, and no secret, into an owner's file", async () => {
  const { id: org, key } = organization;
  const file = join(await mkdtemp(join(tmpdir(), "export-")), "acme.jsonl");
  const { mailBudget } = await admin("org mail-budget", { org, hour: 50, day: 100 });
  const result = await admin("org export", { org, file });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, "utf8");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((each) => JSON.parse(each) as Item & { kind: string });
  const counts = Object.fromEntries(
    [...Map.groupBy(lines, ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]),
  );
  expect(result).toEqual({ file, lines: counts });
  const { checked } = await admin("check", { org });
  const { emails, findings, activity, deliveries } = checked as Record<string, { rows: number }>;
  expect(counts).toMatchObject({
    organization: 1,
    email: emails?.rows,
    finding: findings?.rows,
    activity: activity?.rows,
    delivery: deliveries?.rows,
    alert_channel: 3,
    user: 2,
    comment: 1,
    breach_assignee: 1,
    // All other addresses of the built-in breaches.
    unwatched_address: 11,
  });
  expect(lines).toEqual(
    expect.arrayContaining([
      {
        kind: "unwatched_address",
        id: expect.any(Number),
        email: expect.stringMatching(/@demo\.example$/),
        domainId: organization.domainId,
        breachIds: expect.arrayContaining([expect.any(Number)]),
        firstSeenAt: expect.any(String),
        lastNewAt: expect.any(String),
        ignored: false,
      },
      expect.objectContaining({ kind: "alert_channel", isEnabled: true, ...options }),
      expect.objectContaining({ kind: "organization", billing: expect.anything(), mailBudget }),
      expect.objectContaining({ kind: "email", email: address, isActive: true }),
    ]),
  );
  const hashes = (await rowsOf(org))
    .filter(({ pk }) => /#(KEY|SESSION)$/.test(String(pk)))
    .map(({ sk }) => String(sk).split("#").at(-1) as string);
  expect(hashes.length).toBeGreaterThan(2);
  for (const hidden of [secret, key, "/personal-data-", `ORG#${org}`, ...hashes]) {
    expect(text).not.toContain(hidden);
  }
  await expect(admin("org export", { org, file })).rejects.toThrow(/cannot be created/);

  // The end of the last line does not fit.
  const blocks = Math.floor((text.length - 1) / 512);
  const { port } = new URL(service.apiUrl);
  const command =
    `ulimit -f ${blocks}; exec node bin/admin.ts org export --org ${org} --file ${file}.cut --port ` +
    `${port}`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("EFBIG") });
});

/** Rows by which others are found, and what the export calls some kinds of rows. */
const repeating = ["ADDRESS", "TEAM-NAME"];
const exportedAs: Record<string, string> = { KEY: "api_key", CHANNEL: "alert_channel" };

describe("erase", () => {
  test("says what is where, and changes nothing with --dry-run", async () => {
    const { id: org } = organization;
    const before = await rowsOf(org);
    const { traces } = await admin("erase", { email: address, "dry-run": true });
    expect(traces).toEqual(
      expect.arrayContaining(
        ["EMAIL", "USER", "SESSION", "CHANNEL", "KEY", "ACTIVITY", "ADDRESS", "COMMENT"].map((kind) =>
          expect.objectContaining({ organizationId: org, kind, outcome: "found" }),
        ),
      ),
    );
    expect(await rowsOf(org)).toEqual(before);
    // What is erased can be asked for before, and the other way round.
    const file = join(await mkdtemp(join(tmpdir(), "export-")), "acme.jsonl");
    await admin("org export", { org, file });
    const { isIn } = mentionOf(address);
    const exported = (await readFile(file, "utf8"))
      .split("\n")
      .filter(isIn)
      .map((line) => JSON.parse(line).kind as string);
    const found = (traces as { organizationId: number; kind: string }[])
      .filter(({ organizationId, kind }) => organizationId === org && !repeating.includes(kind))
      .map(({ kind }) => exportedAs[kind] ?? kind.toLowerCase());
    expect(new Set(exported)).toEqual(new Set(found));
  });

  test("leaves no row that mentions the address, also when it dies in between", async () => {
    const other = await fill();
    const died = new Error("died");
    let writes = 0;
    const restore = intercept("initialize", (next, { commandName }) => async (sent) => {
      if (/^(Put|Update|Delete|TransactWrite)/.test(commandName ?? "") && ++writes % 12 === 0) throw died;
      return next(sent);
    });
    let deaths = 0;
    const erase = async (): Promise<void> => {
      try {
        await admin("erase", { email: address.toUpperCase() });
      } catch (error) {
        if (error !== died || ++deaths > 50) throw error;
        await erase();
      }
    };
    try {
      await erase();
    } finally {
      restore();
    }
    expect(deaths).toBeGreaterThan(3);
    const { isIn } = mentionOf(address);
    for await (const page of table.scanPages()) {
      expect(page.filter(({ pk, sk, ...rest }) => isIn(rest) || isIn(pk.split("#")) || isIn(sk))).toEqual([]);
    }
    for (const { id: org, api } of [organization, other]) {
      const emails = await api.list("/emails");
      expect(emails.map(({ email }) => email).sort()).toEqual([`not.${address}`, "other@demo.example"]);
      expect(await find(org, "donald", { limit: 10, offset: 0 })).toEqual({ emails: [], total: 0 });
      expect((await admin("channel list", { org })).channels).toMatchObject([
        { channel: "webhook" },
        { channel: "email", config: { recipients: ["security@demo.example"] } },
      ]);
      expect((await admin("user list", { org })).users).toMatchObject([{ email: "admin@demo.example" }]);
      expect(await admin("check", { org })).toMatchObject({ differences: [] });
    }
    const { entries } = await admin("operator-log list", {});
    expect(entries).toEqual(
      expect.arrayContaining([expect.objectContaining({ command: "erase", flags: "--email …" })]),
    );
    expect((await admin("erase", { email: address })).traces).toEqual([]);
    // HIBP still names the address, and no scan lists it.
    for (const { id: org, api } of [organization, other]) {
      await scan(api);
      const listed = await list(org, { limit: 100, offset: 0 });
      expect(listed).toMatchObject({ total: 11, unwatched: 11 });
      expect(listed.addresses.map(({ email }) => email)).not.toContain(address);
    }
    expect((await admin("erase", { email: address })).traces).toEqual([]);
  });

  test("keeps a recipient that was added to a channel after its row was read", async () => {
    const { api } = organization;
    const former = "former@demo.example";
    const recipients = ["security@demo.example", former];
    const { body } = await api.post("/alert-configs", { channel: "email", config: { recipients } });
    const config = { recipients: [...recipients, "new@demo.example"] };
    const restore = intercept("initialize", (next, { commandName }) => async (sent) => {
      const reply = await next(sent);
      if (
        commandName === "ScanCommand" &&
        (reply.output as ScanCommandOutput).LastEvaluatedKey === undefined
      ) {
        restore();
        await api.patch(`/alert-configs/${body.id}`, { config });
      }
      return reply;
    });
    await admin("erase", { email: former });
    const kept = { recipients: ["security@demo.example", "new@demo.example"] };
    expect((await api.list("/alert-configs"))[0]).toMatchObject({ id: body.id, config: kept });
  });

  test("takes an unwatched address off the list for good", async () => {
    const { id: org, api } = organization;
    await admin("user create", { org, email: "ada@demo.example", role: "admin" });
    const kindsOf = (traces: unknown) => (traces as { kind: string }[]).map(({ kind }) => kind);
    const dryRun = await admin("erase", { email: "Ada@demo.example", "dry-run": true });
    const { traces } = await admin("erase", { email: "Ada@demo.example" });
    expect(kindsOf(traces)).toEqual(expect.arrayContaining(kindsOf(dryRun.traces)));
    expect(kindsOf(traces)).toContain("SIGN-IN-ADDRESS");
    expect(traces).toContainEqual(
      expect.objectContaining({ organizationId: org, kind: "UNWATCHED", outcome: "removed" }),
    );
    await scan(api);
    expect(await list(org, { limit: 100, offset: 0 })).toMatchObject({ total: 10, unwatched: 10 });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });
});
