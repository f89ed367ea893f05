import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { deliveries, raise } from "../../shared/alerting/deliveries/delivery.ts";
import * as queue from "../../shared/aws/queue/queue.ts";
import * as table from "../../shared/aws/table/table.ts";
import { addWebhook } from "./add-webhook.ts";
import { admin } from "./admin.ts";
import { eventually } from "./eventually.ts";
import { startOwnService } from "./own-service.ts";

/** More channels than the delivering function may have instances. */
const hangingPaths = Array.from({ length: 12 }, (_, index) => `/hangs-${index}`);
const healthyPaths = Array.from({ length: 4 }, (_, index) => `/healthy-${index}`);
const eventCount = 2;
/** How long an attempt waits for an answer. */
const attemptMilliseconds = 10_000;

let isHanging = false;
let receiver: Receiver;
let service: LocalService;

beforeAll(async () => {
  receiver = await startReceiver({
    respond: ({ url }, response) => {
      if (!isHanging || url?.startsWith("/healthy")) response.writeHead(204).end();
    },
  });
  service = await startOwnService(["--memory", "--allow-origin", receiver.origin]);
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service?.stop();
  await receiver?.close();
});

const arrivals = (paths: readonly string[]): number[] =>
  receiver.requests.filter(({ path }) => paths.includes(path)).map((request) => request.receivedAt.getTime());

/** Raises events for all channels at once, as a scan does; gives the time in milliseconds since the epoch. */
const raiseEvents = async (org: number): Promise<number> => {
  const at = Date.now();
  for (let made = 0; made < eventCount; made++) await raiseTogether(org, 1);
  return at;
};

/** Raises so many events for all channels in one transaction. */
const raiseTogether = async (org: number, count: number): Promise<void> => {
  const events = Array.from({ length: count }, () => ({ type: "scan_error", error: "An event" }) as const);
  const { writes, messages } = await raise(org, await channels.list(org), events);
  await table.transact(deliveries.writes(org, writes));
  await queue.sendAll("deliveries", messages);
};

test("more unresponsive channels than workers hold up no other channel", async () => {
  const { id: org } = await admin("org create", { name: "Isolation", "scan-every": "never" }, service.apiUrl);
  for (const path of [...hangingPaths, ...healthyPaths]) await addWebhook(org, `${receiver.origin}${path}`);
  const until = (paths: readonly string[], rounds: number) =>
    eventually(
      async () => arrivals(paths),
      (all) => all.length >= rounds * eventCount * paths.length,
    );
  // While all receivers answer, the functions are started.
  await raiseEvents(org);
  await until(healthyPaths, 1);
  await until(hangingPaths, 1);

  isHanging = true;
  const raisedAt = await raiseEvents(org);
  const healthy = await until(healthyPaths, 2);
  // If every attempt held a worker, these deliveries would wait for the first timeouts.
  expect(Math.max(...healthy) - raisedAt).toBeLessThan(attemptMilliseconds);
  // The hanging attempts are waited for at the same time.
  const first = eventCount * hangingPaths.length;
  const hanging = (await until(hangingPaths, 2)).slice(first, 2 * first);
  expect(Math.max(...hanging) - Math.min(...hanging)).toBeLessThan(attemptMilliseconds);

  const raisedAgainAt = await raiseEvents(org);
  expect(Math.max(...(await until(healthyPaths, 3))) - raisedAgainAt).toBeLessThan(attemptMilliseconds);
  isHanging = false;
});

test("an organization with many channels and events does not hold up another", async () => {
  const create = (name: string) => admin("org create", { name, "scan-every": "never" }, service.apiUrl);
  const [{ id: busy }, { id: calm }] = [await create("Busy"), await create("Calm")];
  const busyPaths = Array.from({ length: 20 }, (_, index) => `/busy-${index}`);
  for (const path of busyPaths) await addWebhook(busy, `${receiver.origin}${path}`);
  await addWebhook(calm, `${receiver.origin}/calm`);
  for (let made = 0; made < 15; made++) await raiseTogether(busy, 4);
  await raiseTogether(calm, 20);
  const raisedAt = Date.now();
  const calmArrivals = await eventually(
    async () => arrivals(["/calm"]),
    (all) => all.length >= 20,
  );
  const ended = Math.max(...calmArrivals);
  const meanwhile = arrivals(busyPaths).filter((at) => at > raisedAt && at <= ended);
  // If each channel had a turn, the twenty alerts of one channel would wait for about 380 of twenty channels.
  expect(meanwhile.length).toBeLessThan(200);
});
