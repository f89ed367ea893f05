/** This release on a table and with messages that earlier ones wrote (test/releases). */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { sign } from "../../shared/alerts/signature.ts";
import { audit } from "../../shared/audit/audit.ts";
import { messages } from "../../shared/contract/messages.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { madeLately, type Recording, recordings, store, storedRows, teach } from "../releases/recording.ts";
import { admin } from "./admin.ts";
import { type Client, createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type LocalStack, readLocalStack } from "./local-stack.ts";
import { startOwnService } from "./own-service.ts";

/** The sweep comes every five seconds. */
const speed = "60";

describe.each(recordings)("what %s holds", (name) => {
  let hibp: HibpServer;
  let receiver: Receiver;
  let service: LocalService;
  let stack: LocalStack;
  let recording: Recording;

  const organization = (what: string) => {
    const { id = 0, key = "", session = "", signInToken = "" } = recording.organizations[what] ?? {};
    return {
      id,
      session,
      signInToken,
      api: createClient({ authorization: `Bearer ${key}` }, service.apiUrl),
    };
  };
  const dashboard = (headers: Record<string, string> = {}): Client =>
    createClient(
      { origin: new URL(service.apiUrl).origin, ...headers },
      service.apiUrl.replace(/v1$/, "dashboard"),
    );
  const attemptsAt = (path: string) => receiver.requests.filter((request) => request.path === path);

  beforeAll(async () => {
    [hibp, receiver] = await Promise.all([startHibpServer(), startReceiver()]);
    service = await startOwnService([
      ...["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin, "--speed", speed],
    ]);
    stack = await readLocalStack(service.apiUrl);
    // Connects this process to the service.
    await admin("org list", {}, service.apiUrl);
    recording = madeLately(name, receiver.origin);
    teach(hibp, recording);
    await store(recording.rows);
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([receiver?.close(), hibp?.close()]);
  });

  test("lists show it as the release before did", async () => {
    const { api, session } = organization("used");
    const inDashboard = dashboard({ cookie: `session=${session}` });
    for (const { part, path, body } of recording.answers) {
      const reply = await (part === "v1" ? api : inDashboard).get(path);
      expect({ path, ...reply }).toMatchObject({ path, status: 200, body });
    }
  });

  test("a sign-in link opens a session once", async () => {
    const { signInToken } = organization("used");
    expect((await dashboard().post("/sign-in/sessions", { token: signInToken })).status).toBe(201);
    expect((await dashboard().post("/sign-in/sessions", { token: signInToken })).status).toBe(401);
  });

  test("every message that was in flight does its work", async () => {
    const client = new SQSClient({});
    const base = stack.outputs.DeliveriesQueueUrl?.replace(/deliveries$/, "");
    for (const { queue, body } of recording.messages) {
      await client.send(new SendMessageCommand({ QueueUrl: `${base}${queue}`, MessageBody: body }));
    }
    client.destroy();

    const findings = async (what: string) => (await organization(what).api.get("/breaches")).body;
    for (const [what, total] of [
      ["planned", 1],
      ["checking", 2],
    ] as const) {
      const { api } = organization(what);
      const scans = () => api.get("/scans");
      await eventually(scans, ({ body }) => (body.scans as { status: string }[])[0]?.status === "completed");
      expect(await findings(what)).toMatchObject({ total, unacknowledged: total });
    }
    await eventually(
      () => findings("acknowledging"),
      ({ total, unacknowledged }) => total === 2 && unacknowledged === 0,
    );
    await eventually(
      async () => attemptsAt("/alerted").length + attemptsAt("/failing/retrying").length,
      (attempts) => attempts >= 2,
    );
    const [alert] = attemptsAt("/alerted");
    const signature = alert?.headers["x-service-signature"];
    expect(signature).toBe(sign(alert?.body ?? "", "an invented signing secret"));
    const outbox = join(stack.dataDirectory, "outbox");
    const mails = async () =>
      Promise.all((await readdir(outbox)).map((file) => readFile(join(outbox, file), "utf8")));
    await eventually(mails, (all) => all.some((mail) => /^To: ada@covered\.example\r?$/m.test(mail)));
  });

  test("the sweep does what was due, and nothing differs in the end", async () => {
    const { used, requested, deleting } = recording.organizations;
    const scans = () => organization("requested").api.get("/scans");
    await eventually(scans, ({ body }) => body.total === 1, 60);
    const isDue = async () =>
      (await storedRows()).filter(({ pk }) => /#(CHANNEL-)?REMOVAL$/.test(pk?.S ?? ""));
    await eventually(isDue, (rows) => rows.length === 0, 60);
    await eventually(
      () => table.get(keys.organization(deleting?.id ?? 0)),
      (row) => row === undefined,
      60,
    );
    expect((await organization("used").api.get("/emails")).body.total).toBe(5);
    for (const { id } of Object.values(recording.organizations)) {
      if (id === deleting?.id) continue;
      const settled = () => audit(id);
      const report = await eventually(settled, ({ unsettled }) => unsettled.length === 0);
      expect({ id, differences: report.differences }).toEqual({ id, differences: [] });
    }
    expect([used?.id, requested?.id]).not.toContain(undefined);
  });

  test("every row that was written since carries its version", async () => {
    const before = new Map(recording.rows.map((row) => [keyOf(row), row]));
    const written = (await storedRows()).filter((row) => !isDeepStrictEqual(before.get(keyOf(row)), row));
    expect(written.length).toBeGreaterThan(100);
    expect(written.filter(({ v }) => v?.N !== "0").map(keyOf)).toEqual([]);
  });

  test("has every kind of message", () => {
    expect(new Set(recording.messages.map(({ queue }) => queue))).toEqual(new Set(Object.keys(messages)));
  });
});

const keyOf = ({ pk, sk }: Recording["rows"][number]): string => `${pk?.S} / ${sk?.S}`;
