/** Tests of this release on a table and with messages that were recorded (test/releases). */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { sign } from "../../shared/alerting/senders/signature.ts";
import { listKinds } from "../../shared/aws/table/keys.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import {
  madeLately,
  type Recording,
  store,
  storedRows,
  takeOverChannels,
  teach,
} from "../releases/recording.ts";
import { admin } from "./admin.ts";
import { type Client, createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type LocalStack, readLocalStack } from "./local-stack.ts";
import { startOwnService } from "./own-service.ts";

/** The sweep comes every five seconds. */
const speed = "60";

/** Names of attributes are data in these rows: a further one counts as one of them. */
const isOfCounters = ({ pk, sk }: Recording["rows"][number]): boolean =>
  /#COUNTS#|#FINDING-NOTES$/.test(pk?.S ?? "") ||
  (listKinds.some((kind) => pk?.S?.endsWith(`#${kind}`)) && /^\d+$/.test(sk?.S ?? ""));

/** These rows are written as a whole when they change: what they say can be had again, or is about minutes. */
const writtenAsAWhole = /^UPSTREAM |^SIGN-IN-ADDRESS#|^BREACH#| (#FOLD#|!RARE#)|#FINDING-BREACH#/;

/**
 * Tests this release on a recording. `isOfNext`: with an attribute in each row that a next release may have added. One call for each test
 * file, because the product's modules in this process stay connected to one service.
 */
export const testRecording = (name: string, { isOfNext }: { isOfNext: boolean }): void => {
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
    await takeOverChannels(recording, stack.outputs.ChannelKeyParameter ?? "");
    if (isOfNext) {
      for (const row of recording.rows) if (!isOfCounters(row)) row.addedLater = { S: "new" };
    }
    teach(hibp, recording);
    // Without their times the sweep does not see rows that are due, until the lists are compared.
    await store(recording.rows.map(({ dueAt: _, ...row }) => row));
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
    await store(recording.rows.filter(({ dueAt }) => dueAt !== undefined));
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

  test("the sweep does what was due, and nothing differs in the end", { timeout: 150_000 }, async () => {
    const { deleting } = recording.organizations;
    const scans = () => organization("requested").api.get("/scans");
    await eventually(scans, ({ body }) => body.total === 1, 60);
    const isDue = async () =>
      (await storedRows()).filter(({ pk }) => /#(CHANNEL-)?REMOVAL$/.test(pk?.S ?? ""));
    await eventually(isDue, (rows) => rows.length === 0, 60);
    await eventually(
      () => organizations.get(deleting?.id ?? 0),
      (row) => row === undefined,
    );
    expect((await organization("used").api.get("/emails")).body.total).toBe(5);
    for (const { id } of Object.values(recording.organizations)) {
      if (id === deleting?.id) continue;
      const settled = () => audit(id);
      const report = await eventually(settled, ({ unsettled }) => unsettled.length === 0);
      expect({ id, differences: report.differences }).toEqual({ id, differences: [] });
    }
  });

  test("every row that was written since carries its version", async () => {
    const before = new Map(recording.rows.map((row) => [keyOf(row), row]));
    const written = (await storedRows()).filter((row) => !isDeepStrictEqual(before.get(keyOf(row)), row));
    expect(written.length).toBeGreaterThan(50);
    expect(written.filter(({ v, sealed }) => v?.N !== (sealed ? "1" : "0")).map(keyOf)).toEqual([]);
  });

  test.runIf(isOfNext)("attributes that this release does not know survive its updates", async () => {
    const before = new Map(recording.rows.map((row) => [keyOf(row), row]));
    const lost = (await storedRows()).filter((row) => before.get(keyOf(row))?.addedLater && !row.addedLater);
    expect(lost.map(keyOf).filter((key) => !writtenAsAWhole.test(key))).toEqual([]);
  });
};

const keyOf = ({ pk, sk }: Recording["rows"][number]): string => `${pk?.S} / ${sk?.S}`;
