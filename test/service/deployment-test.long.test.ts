/** `admin deployment test` on a local service whose schedules come often. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { commandLine } from "./admin.ts";
import { eventually } from "./eventually.ts";
import { startOwnService } from "./own-service.ts";

let service: LocalService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver({
    respond: ({ url }, response) => response.writeHead(url === "/works" ? 204 : 500).end(),
  });
  service = await startOwnService(["--memory", "--speed", "60", "--allow-origin", receiver.origin]);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

const start = (
  ...flags: string[]
): { process: ChildProcess; printed: Promise<string>; ended: Promise<unknown[]> } => {
  const entry = join(import.meta.dirname, "../../bin/admin.ts");
  const args = [entry, "deployment", "test", "--port", String(service.port), ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  return { process: child, printed: text(child.stdout), ended: once(child, "exit") };
};
const organizations = async (): Promise<number[]> =>
  ((await commandLine("org list", {}, service.apiUrl)).organizations as { id: number }[]).map(({ id }) => id);

// Each makes an organization of its own, and mostly waits.
describe.concurrent("the command", () => {
  test("passes every check, prints a JSON object, and removes its data", async () => {
    const { printed, ended } = start("--json", "--webhook", `${receiver.origin}/works`);
    const report = JSON.parse(await printed);
    const notOk = report.checks.filter(({ result }: { result: string }) => result !== "ok");
    expect(notOk).toEqual([{ check: "alarms", result: "skipped", says: "a local run has none" }]);
    expect(report).toMatchObject({ failed: 0, organizationId: expect.any(Number) });
    expect((await ended)[0]).toBe(0);
    // The test alert and the one whose message was lost.
    expect(receiver.requests.filter(({ path }) => path === "/works").length).toBeGreaterThanOrEqual(2);
    expect(await organizations()).not.toContain(report.organizationId);
  });

  test("says what to do about a failed check, ends with 1, and cleans up", async () => {
    const { printed, ended } = start("--webhook", "http://10.0.0.1/refused");
    const text = await printed;
    const lines = text.split("\n");
    const failure = lines.findIndex((line) => line.startsWith("failed  POST /v1/alert-configs: HTTP 400"));
    expect(lines[failure + 1]).toMatch(/^ {8}Look at the log of create-alert-config/);
    expect(lines.filter((line) => line.startsWith("ok      ")).length).toBeGreaterThan(20);
    expect((await ended)[0]).toBe(1);
    const [, id] = /Organization (\d+) of this test/.exec(text) ?? [];
    expect(id).toBeDefined();
    expect(await organizations()).not.toContain(Number(id));
  });
});

test("Ctrl-C ends it, and the organization goes", async () => {
  const { process: child, printed, ended } = start();
  await eventually(organizations, (listed) => listed.length === 1);
  child.kill("SIGINT");
  expect((await ended)[0]).toBe(1);
  expect(await printed).not.toMatch(/bms_|session=/);
  expect(await organizations()).toEqual([]);
});
