import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { schedule } from "../../shared/access/organizations/scan-schedule.ts";
import { send } from "../../shared/aws/queue/queue.ts";
import { withTimeOf, withTimeOfPeople } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import { shortTimeouts } from "../../shared/aws/timeouts.ts";

let requests = 0;
/** It takes requests and never answers. */
const server = createServer(() => requests++);

const { requestTimeout } = shortTimeouts;

beforeAll(async () => {
  // The clients take it from this object.
  shortTimeouts.requestTimeout = 100;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv("AWS_ENDPOINT_URL", url);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  vi.stubEnv("TABLE_NAME", "silent");
  vi.stubEnv("SCAN_PLANS_QUEUE_URL", `${url}/000000000000/scan-plans`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

/** A function that people wait for ends after ten seconds, and needs some of them to answer in. */
const secondsToSpare = 1.5;

test.each([
  ["SQS", () => send("scan-plans", { organizationId: 1, scanId: 1, fencingToken: 0 })],
  ["Scheduler", () => schedule(1, "day", {})],
])("%s that does not answer is given up before a function's ten seconds end", async (_, request) => {
  requests = 0;
  const begin = Date.now();
  await expect(request()).rejects.toMatchObject({ name: "TimeoutError" });
  // Other timeouts than the shortened ones would take longer.
  expect(Date.now() - begin).toBeLessThan(requests * 5_000);
  expect(requests * requestTimeout).toBeLessThan((10 - secondsToSpare) * 1_000);
});

test.each([
  ["person", () => withTimeOfPeople(3, () => table.get({ pk: "1", sk: "1" }))],
  ["worker", () => withTimeOf(3_000, () => table.transact([{ put: { pk: "1", sk: "1" } }]))],
])("a table that does not answer is busy to a %s before the function's time is over", async (_, request) => {
  const begin = Date.now();
  await expect(request()).rejects.toMatchObject({ refusal: "busy" });
  expect(Date.now() - begin).toBeLessThan(2_900);
});
