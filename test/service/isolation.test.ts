import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as channels from "../../shared/alerts/channel.ts";
import { deliveries, raise } from "../../shared/alerts/delivery.ts";
import { isSlow } from "../../shared/alerts/slowness.ts";
import * as queue from "../../shared/queue/queue.ts";
import * as table from "../../shared/table/table.ts";
import { type Receiver, startReceiver } from "../alerts/receiver.ts";
import { startAnother } from "./another.ts";
import { admin, eventually } from "./client.ts";
import { addWebhook } from "./own-channel.ts";
import type { LocalService } from "./run.ts";

/** More than there are instances of the function. */
const hangingPaths = Array.from({ length: 12 }, (_, index) => `/hangs-${index}`);
const healthyPaths = Array.from({ length: 4 }, (_, index) => `/healthy-${index}`);
const eventCount = 2;
/** An attempt waits this long for an answer. */
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
  service = await startAnother(["--memory", "--allow-origin", receiver.origin]);
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service?.stop();
  await receiver?.close();
});

const arrivals = (paths: readonly string[]): number[] =>
  receiver.requests.filter(({ path }) => paths.includes(path)).map((request) => request.receivedAt.getTime());

/** Raises events for all channels at once, as a scan does; when that was. */
const raiseEvents = async (org: number): Promise<number> => {
  const at = Date.now();
  const wanting = await channels.list(org);
  for (let made = 0; made < eventCount; made++) {
    const { writes, messages } = await raise(org, wanting, [{ type: "scan_error", error: "An event" }]);
    await table.transact(deliveries.writes(org, writes));
    await queue.sendAll("deliveries", messages);
  }
  return at;
};

const urlOf = ({ config }: channels.Channel): string => ("url" in config ? config.url : "");

test("channels that never answer, more than there are workers, hold up no other channel", async () => {
  const { id: org } = await admin("org create", { name: "Isolation", "scan-every": "never" }, service.apiUrl);
  for (const path of [...hangingPaths, ...healthyPaths]) await addWebhook(org, `${receiver.origin}${path}`);
  const until = (paths: readonly string[], rounds: number) =>
    eventually(
      async () => arrivals(paths),
      (all) => all.length >= rounds * eventCount * paths.length,
    );
  // All answer: the functions are started.
  await raiseEvents(org);
  await until(healthyPaths, 1);
  await until(hangingPaths, 1);

  isHanging = true;
  const raisedAt = await raiseEvents(org);
  const healthy = await until(healthyPaths, 2);
  // With a worker for each attempt they come when the first ones that hang have ended.
  expect(Math.max(...healthy) - raisedAt).toBeLessThan(attemptMilliseconds);
  // All that hang are waited for at the same time.
  const first = eventCount * hangingPaths.length;
  const hanging = (await until(hangingPaths, 2)).slice(first, 2 * first);
  expect(Math.max(...hanging) - Math.min(...hanging)).toBeLessThan(attemptMilliseconds);

  // Those that hang are known by now, and only those.
  const slowPaths = async () =>
    (await channels.list(org)).filter(isSlow).map((channel) => new URL(urlOf(channel)).pathname);
  await eventually(slowPaths, (paths) => paths.length === hangingPaths.length);
  expect((await slowPaths()).sort()).toEqual([...hangingPaths].sort());
  const raisedAgainAt = await raiseEvents(org);
  expect(Math.max(...(await until(healthyPaths, 3))) - raisedAgainAt).toBeLessThan(attemptMilliseconds);

  // Once they answer again, they are as others.
  isHanging = false;
  await eventually(slowPaths, (paths) => paths.length === 0, 60);
}, 120_000);
