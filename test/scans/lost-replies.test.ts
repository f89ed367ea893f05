import { afterAll, beforeAll, expect, test } from "vitest";
import { check } from "../../shared/scans/check.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import { intercept, type Request } from "../table/intercept.ts";
import {
  createScanned,
  invocation,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

let workers: Workers;
/** Part of the one update whose reply gets lost, after which the client sends it again; undefined once it was. */
let losing: string | undefined;

beforeAll(async () => {
  workers = await startWorkers();
  intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const reply = await next(sent);
    const { headers, body } = sent.request;
    const isUpdate = headers["x-amz-target"]?.endsWith(".UpdateItem");
    if (losing === undefined || !isUpdate || !new TextDecoder().decode(body).includes(losing)) return reply;
    losing = undefined;
    throw Object.assign(new Error("socket hang up"), { name: "TimeoutError", code: "ECONNRESET" });
  });
}, 60_000);
afterAll(() => workers?.stop());

/** A scan from beginning to end, each message once. */
const scan = async (org: number): Promise<{ status?: string | undefined }> => {
  const scanId = await startPlanned(org);
  for (const message of await take("scan-lookups")) await lookUp(message, invocation());
  for (const message of await take("scan-chunks")) await check(message, invocation());
  return scanned(org, scanId);
};

test.each([
  ["a planner takes its turn", "planToken"],
  ["a worker takes the last chunk off", "REMOVE #remaining"],
  ["a worker claims look-ups", "leaseToken"],
])(
  "%s, and the reply is lost: it goes on",
  async (_, write) => {
    workers.breached = { "covered.example": { 0: ["Alpha"] } };
    const org = await createScanned({ "covered.example": 2, "single.example": 1 });
    losing = write;
    expect(await scan(org)).toMatchObject({ status: "completed", totalEmails: 3, newBreachesFound: 1 });
    expect(losing).toBeUndefined();
  },
  30_000,
);
