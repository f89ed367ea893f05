/**
 * Records what this release stores and sends, for the tests of later ones: `node test/releases/record.ts <file>`. It runs a local
 * service through everything that makes a kind of row or message, holds some messages back as if they were in flight, and writes the
 * table and these messages into the file. Run it before a form changes. All secrets in it are made for it and open nothing else.
 */
import { ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Logger } from "@aws-lambda-powertools/logger";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { commands } from "../../bin/admin/commands.ts";
import { connect } from "../../bin/admin/connect.ts";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { startService } from "../../local/harness/service.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as removedChannels from "../../shared/alerting/channels/remove.ts";
import { documents } from "../../shared/aws/table/clients.ts";
import type { ListKind } from "../../shared/aws/table/keys.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import { reserve } from "../../shared/lists/blocks.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { decide } from "../../shared/monitoring/domains/proof-decision.ts";
import { recordOf } from "../../shared/monitoring/domains/proof-record.ts";
import { requestScan } from "../../shared/scanning/scan-request.ts";
import { type Recording, storedRows } from "./recording.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Usage: node test/releases/record.ts <file>");

const directory = mkdtempSync(join(tmpdir(), "record-release-"));
const heldQueues = join(directory, "held.json");
const heldMessages = join(directory, "messages.jsonl");
const hold = (...queues: string[]): void => writeFileSync(heldQueues, JSON.stringify(queues));
hold();
writeFileSync(heldMessages, "");

const hibp = await startHibpServer();
const manyBreaches = Array.from({ length: 45 }, (_, index) => `Many${index}`);
hibp.catalog = ["Alpha", "Beta", ...manyBreaches].map((name) => inventedBreach(name));
hibp.covered = ["covered.example"];
const receiver = await startReceiver({
  respond: ({ url }, response) => response.writeHead(url?.startsWith("/failing") ? 500 : 204).end(),
});
const service = await startService(["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin], {
  NODE_OPTIONS: `--import ${join(import.meta.dirname, "held-queues.ts")}`,
  HELD_QUEUES: heldQueues,
  HELD_MESSAGES: heldMessages,
});

try {
  const stack = await connect({ port: String(service.port), stack: undefined });
  const admin = async (command: string, flags: Record<string, string | number>) =>
    (await commands[command]?.run(
      Object.fromEntries(Object.entries(flags).map(([flag, value]) => [flag, String(value)])),
      stack,
    )) as Record<string, unknown> & { id: number };

  const request = async (url: string, headers: Record<string, string>, method: string, body?: unknown) => {
    const reply = await fetch(url, {
      method,
      headers: { "content-type": "application/json", origin: new URL(service.apiUrl).origin, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    ok(reply.ok, `${method} ${url}: ${reply.status} ${text}`);
    return JSON.parse(text === "" ? "{}" : text);
  };
  const dashboardUrl = service.apiUrl.replace(/v1$/, "dashboard");

  /** An organization with a covered and another domain, and what it takes to use it. */
  const create = async (name: string) => {
    const { id } = await admin("org create", { name });
    const keyed = await admin("key create", { org: id, label: "Recorded key" });
    const key = String(keyed.key);
    const api = (method: string, path: string, body?: unknown) =>
      request(`${service.apiUrl}${path}`, { authorization: `Bearer ${key}` }, method, body);
    const domainIds: Record<string, number> = {};
    for (const domain of ["covered.example", "other.example"]) {
      domainIds[domain] = (await admin("domain add", { org: id, name: domain, verified: "true" })).id;
    }
    const add = async (email: string, more: object = {}): Promise<number> => {
      const domainId = domainIds[email.split("@")[1] ?? ""];
      return (await api("POST", "/emails", { email, domainId, ...more })).id;
    };
    const startScan = async (): Promise<number> => (await api("POST", "/scans")).scanJobId;
    const scan = async (): Promise<void> => {
      const started = await startScan();
      await until(
        async () => (await api("GET", `/scans`)).scans[0],
        ({ id, status }) => id === started && status === "completed",
      );
    };
    return { id, key, api, add, scan, startScan, domainIds };
  };
  const until = async <T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> => {
    for (const deadline = Date.now() + 60_000; ; ) {
      const value = await read();
      if (isDone(value)) return value;
      if (Date.now() > deadline) throw new Error(`Not there in a minute: ${JSON.stringify(value)}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const breached = (address: string, ...names: string[]): string => {
    hibp.accounts[address] = names;
    return address;
  };
  const untilHeld = (queue: string) =>
    until(
      async () => readFileSync(heldMessages, "utf8"),
      (lines) => lines.includes(`"queue":"${queue}"`),
    );
  const organizations: Recording["organizations"] = {};
  /** An answer without what changes while nothing happens. */
  const withoutNow = ({ retention: _, ...body }: Record<string, unknown>) => {
    if (typeof body.findings !== "object" || !("byMonth" in (body.findings ?? {}))) return body;
    const { byMonth: __, ...findings } = body.findings as Record<string, unknown>;
    return { ...body, findings };
  };

  // An organization that has used everything. Blocks are left half empty, so that directories are folded.
  const used = await create("Used");
  organizations.used = { id: used.id, key: used.key };
  const leaveBlock = (kind: ListKind) => reserve(used.id, kind, 511);
  const team = await admin("team create", { org: used.id, name: "Security" });
  const user = await admin("user create", { org: used.id, email: "ada@covered.example", name: "Ada" });
  const left = await admin("user create", { org: used.id, email: "left@covered.example" });
  await admin("user remove", { org: used.id, user: left.id });
  const { cookie } = await admin("session create", { org: used.id, user: user.id });
  const inDashboard = (method: string, path: string, body?: unknown) =>
    request(`${dashboardUrl}${path}`, { cookie: String(cookie) }, method, body);
  const hook = { url: `${receiver.origin}/used`, secret: "an invented signing secret" };
  const channel = await used.api("POST", "/alert-configs", {
    channel: "webhook",
    config: hook,
    notifyOnScanComplete: true,
  });
  await used.api("POST", "/alert-configs", {
    channel: "webhook",
    config: { url: `${receiver.origin}/failing/used` },
  });
  await used.api("POST", "/alert-configs", {
    channel: "slack",
    config: { webhookUrl: `${receiver.origin}/slack` },
  });
  await used.api("POST", "/alert-configs", {
    channel: "email",
    config: { recipients: ["ada@covered.example"] },
  });
  for (const person of ["alan", "edsger", "grace", "barbara"]) {
    await used.add(breached(`${person}@covered.example`, "Alpha", "Beta"), {
      teamId: team.id,
      ownerName: person,
    });
    await used.scan();
    for (const kind of ["EMAIL", "FINDING", "ACTIVITY"] as const) await leaveBlock(kind);
  }
  const many = await used.add(breached("many@covered.example", ...manyBreaches));
  const alone = await used.add(breached("alone@other.example", "Alpha"));
  await used.scan();
  await used.api("PATCH", `/emails/${alone}`, { isActive: false });
  const [finding] = (await used.api("GET", "/breaches")).breaches;
  await used.api("POST", "/breaches/acknowledge", { id: finding.id, reason: "Password changed" });
  const others = { covered: used.domainIds["covered.example"], of: used.domainIds["other.example"] };
  await admin("domain unverify", { org: used.id, domain: others.of ?? 0 });
  const proven = await inDashboard("POST", "/domains", { name: "proven.example" });
  const domain = await domains.existing(used.id, proven.id);
  const { value: record } = recordOf(used.id, domain);
  await decide(used.id, proven.id, {
    values: [record],
    at: new Date().toISOString(),
    actor: administrator,
    logger: new Logger(),
  });
  const unused = await inDashboard("POST", "/domains", { name: "unused.example" });
  await inDashboard("DELETE", `/domains/${unused.id}`);
  const removedTeam = await inDashboard("POST", "/teams", { name: "Removed" });
  await inDashboard("DELETE", `/teams/${removedTeam.id}`);
  const removedHook = await used.api("POST", "/alert-configs", { channel: "webhook", config: hook });
  await removedChannels.remove(used.id, removedHook.id, administrator);
  const { url: signInLink } = await admin("user sign-in-link", { org: used.id, user: user.id });
  const [, token = ""] = String(signInLink).split("#");
  const [, session = ""] = String(cookie).split("=");
  organizations.used = { id: used.id, key: used.key, session, signInToken: token };
  // The removal dies after its first transaction.
  let transactions = 0;
  documents().middlewareStack.add(
    (next, { commandName = "" }: { commandName?: string }) =>
      async (args) => {
        if (commandName.startsWith("TransactWrite") && ++transactions > 1)
          throw new Error("The process died");
        return next(args);
      },
    { step: "initialize", name: "dies" },
  );
  await removals.remove(used.id, many, administrator).catch(() => undefined);
  documents().middlewareStack.remove("dies");
  ok(transactions > 1, "The removal took one transaction");

  // Organizations whose next message is in flight.
  hold("delivery-retries");
  const retrying = await create("Retrying");
  const failing = { url: `${receiver.origin}/failing/retrying`, secret: "another invented signing secret" };
  await retrying.api("POST", "/alert-configs", { channel: "webhook", config: failing });
  await retrying.add(breached("retrying@covered.example", "Alpha"));
  await retrying.scan();
  await untilHeld("delivery-retries");
  organizations.retrying = { id: retrying.id, key: retrying.key };

  hold("delivery-retries", "deliveries");
  const alerted = await create("Alerted");
  await alerted.api("POST", "/alert-configs", {
    channel: "webhook",
    config: { ...hook, url: `${receiver.origin}/alerted` },
  });
  await alerted.add(breached("alerted@covered.example", "Alpha", "Beta"));
  await alerted.scan();
  await untilHeld("deliveries");
  organizations.alerted = { id: alerted.id, key: alerted.key };

  hold("delivery-retries", "deliveries", "acknowledgements");
  const acknowledging = await create("Acknowledging");
  await acknowledging.add(breached("acknowledging@covered.example", "Alpha", "Beta"));
  await acknowledging.scan();
  await acknowledging.api("POST", "/breaches/acknowledgements", { filter: {} });
  organizations.acknowledging = { id: acknowledging.id, key: acknowledging.key };

  hold("delivery-retries", "deliveries", "acknowledgements", "scan-checks", "scan-lookups");
  const checking = await create("Checking");
  await checking.add(breached("checking@covered.example", "Alpha"));
  await checking.add(breached("checking@other.example", "Beta"));
  await checking.startScan();
  await untilHeld("scan-checks");
  await untilHeld("scan-lookups");
  organizations.checking = { id: checking.id, key: checking.key };

  hold("delivery-retries", "deliveries", "acknowledgements", "scan-plans", "sign-in-mails");
  const planned = await create("Planned");
  await planned.add(breached("planned@covered.example", "Alpha"));
  await planned.startScan();
  organizations.planned = { id: planned.id, key: planned.key };

  const requested = await create("Requested");
  await requested.add(breached("requested@covered.example", "Alpha"));
  await requestScan(requested.id, "scheduled", new Date(Date.now() + 60_000));
  organizations.requested = { id: requested.id, key: requested.key };

  const deleting = await create("Deleting");
  await admin("org delete", { org: deleting.id, name: "Deleting" });
  organizations.deleting = { id: deleting.id };

  await request(`${dashboardUrl}/sign-in/links`, {}, "POST", { email: "ada@covered.example" });
  await untilHeld("sign-in-mails");

  const answers: Recording["answers"] = [];
  for (const path of ["/emails", "/breaches?limit=100", "/scans", "/activity?limit=100", "/alert-configs"]) {
    answers.push({ part: "v1", path, body: withoutNow(await used.api("GET", path)) });
  }
  const breach = finding.breach.id;
  for (const path of [
    ...[
      "/overview",
      `/findings?breachId=${breach}`,
      "/domains",
      "/teams",
      "/members",
      "/api-keys",
      "/sessions",
    ],
    ...["/organization", `/alert-configs/${channel.id}/deliveries`],
  ]) {
    answers.push({ part: "dashboard", path, body: withoutNow(await inDashboard("GET", path)) });
  }

  const parameter = { Name: stack.outputs.ChannelKeyParameter, WithDecryption: true };
  const { Parameter } = await new SSMClient().send(new GetParameterCommand(parameter));

  const rows = await storedRows();
  const messages = readFileSync(heldMessages, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const recording: Recording = {
    recordedAt: new Date().toISOString(),
    receiver: receiver.origin,
    accounts: hibp.accounts,
    breaches: hibp.catalog.map(({ Name }) => Name),
    covered: hibp.covered,
    organizations,
    ...(Parameter?.Value !== undefined && { channelKey: Parameter.Value }),
    answers,
    messages,
    rows: rows.sort((one, other) => (`${one.pk?.S} ${one.sk?.S}` < `${other.pk?.S} ${other.sk?.S}` ? -1 : 1)),
  };
  const asBase64 = function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    const stored = this[key];
    return stored instanceof Uint8Array ? Buffer.from(stored).toString("base64") : value;
  };
  const lines = (all: readonly unknown[]): string =>
    all.map((each) => `\n  ${JSON.stringify(each, asBase64)}`).join(",");
  // A line each, which can be read and compared.
  const members = Object.entries(recording).map(([name, value]) =>
    Array.isArray(value) ? `"${name}":[${lines(value)}\n]` : `"${name}":${JSON.stringify(value)}`,
  );
  writeFileSync(file, `{${members.join(",\n")}}\n`);
  console.log(`${rows.length} rows, ${messages.length} messages`);
} finally {
  await service.stop();
  await Promise.all([receiver.close(), hibp.close()]);
  rmSync(directory, { recursive: true, force: true });
}
