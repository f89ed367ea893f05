import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../alerts/receiver.ts";
import { startAnother } from "./another.ts";
import { createBreaches, inventedBreach } from "./breaches.ts";
import { createClient, eventually, scan } from "./client.ts";
import { connectAdmin, type OwnAdmin } from "./own-admin.ts";
import type { LocalService } from "./run.ts";

const domain = "isolation.example";
const addresses = Array.from({ length: 10 }, (_, index) => `user${index}@${domain}`);
const perScan = addresses.length / 2;
/** More than there are instances of the function. */
const hangingPaths = Array.from({ length: 12 }, (_, index) => `/hangs-${index}`);
const healthyPaths = Array.from({ length: 4 }, (_, index) => `/healthy-${index}`);

let isHanging = false;
let receiver: Receiver;
let service: LocalService;
let admin: OwnAdmin;

beforeAll(async () => {
  const accounts = Object.fromEntries(addresses.map((address) => [address, ["Alpha"]]));
  const breaches = await createBreaches(accounts, [inventedBreach("Alpha")]);
  receiver = await startReceiver({
    respond: ({ url }, response) => {
      if (!isHanging || url?.startsWith("/healthy")) void (response as ServerResponse).writeHead(204).end();
    },
  });
  const options = ["--memory", "--allow-origin", receiver.origin, "--breaches", breaches.directory];
  service = await startAnother(options);
  admin = await connectAdmin(service);
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

const receivedAt = (paths: readonly string[]): number[] =>
  receiver.requests.filter(({ path }) => paths.includes(path)).map((request) => request.receivedAt.getTime());

test("channels that never answer, more than there are workers, hold up no other channel", async () => {
  const { id: org } = await admin("org create", { name: "Isolation", "scan-every": "never" });
  const { id: domainId } = await admin("domain add", { org, name: domain, verified: true });
  const { key } = await admin("key create", { org, label: "Test key" });
  const api = createClient({ authorization: `Bearer ${key}` }, service.apiUrl);
  for (const path of [...hangingPaths, ...healthyPaths]) {
    const config = { url: `${receiver.origin}${path}` };
    expect(await api.post("/alert-configs", { channel: "webhook", config })).toMatchObject({ status: 201 });
  }
  const find = async (emails: readonly string[]): Promise<number> => {
    for (const email of emails) {
      expect(await api.post("/emails", { email, domainId })).toMatchObject({ status: 201 });
    }
    return Date.parse((await scan(api)).completedAt as string);
  };
  const healthyAfter = (count: number) =>
    eventually(
      async () => receivedAt(healthyPaths),
      (all) => all.length === count * healthyPaths.length,
    );

  // All answer: the functions are started.
  await find(addresses.slice(0, perScan));
  await healthyAfter(perScan);
  await eventually(
    async () => receivedAt(hangingPaths).length,
    (count) => count === perScan * hangingPaths.length,
  );

  isHanging = true;
  const completedAt = await find(addresses.slice(perScan));
  const arrivals = await healthyAfter(addresses.length);
  // Half of the ten seconds that an attempt waits. With a worker for each attempt they would come after them.
  expect(Math.max(...arrivals) - completedAt).toBeLessThan(5_000);
  // All that hang are waited for at the same time: nothing of them is left for later.
  const hanging = await eventually(
    async () => receivedAt(hangingPaths).slice(perScan * hangingPaths.length),
    (all) => all.length >= perScan * hangingPaths.length,
  );
  const [first = 0, last = 0] = [Math.min(...hanging), hanging[perScan * hangingPaths.length - 1]];
  expect(last - first).toBeLessThan(10_000);
}, 120_000);
