import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import {
  createOrganization,
  invocation,
  readScan,
  runChecks,
  runLookUps,
  runPlans,
  startAndPlan,
  useWorkers,
} from "./in-process-workers.ts";

useWorkers({ breached: { "covered.example": { 0: ["Alpha"] } } });

/** Part of the update whose reply gets lost once, so that the client sends the update again. */
let losing: string | undefined;
beforeAll(() => {
  intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const reply = await next(sent);
    const { headers, body } = sent.request;
    const isUpdate = headers["x-amz-target"]?.endsWith(".UpdateItem");
    if (losing === undefined || !isUpdate || !new TextDecoder().decode(body).includes(losing)) return reply;
    losing = undefined;
    throw Object.assign(new Error("socket hang up"), { name: "TimeoutError", code: "ECONNRESET" });
  });
});

afterEach(() => void vi.useRealTimers());

test.each([
  ["acquires its fencing token", "fencingToken"],
  ["takes the last chunk off", "REMOVE #remaining"],
  ["acquires the lease of look-ups", "leaseUntil"],
])("the sweep heals a scan whose worker %s and gets no reply", async (_, write) => {
  const org = await createOrganization({ "covered.example": 2, "single.example": 1 });
  losing = write;
  const scanId = await startAndPlan(org);
  await runLookUps();
  await runChecks();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 300_000 });
  await sweepScan(keys.scanLock(org), new Date(), invocation(), { silenceSeconds: 60 });
  await runPlans();
  await runLookUps();
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 3,
    newBreachesFound: 1,
  });
  expect(losing).toBeUndefined();
});
