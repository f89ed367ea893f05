/** The websites of stealer logs, which a scan asks for when it finds one. */
import { beforeEach, expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import * as subscription from "../../shared/hibp/subscription.ts";
import { reply } from "../hibp/upstream-server.ts";
import { createOrganization, readScan, runChecks, startAndPlan, useWorkers } from "./in-process-workers.ts";

const names = ["asked", "odd", "own", "core", "silent"].map((name) => `${name}.example`);
const workers = useWorkers({ breached: Object.fromEntries(names.map((name) => [name, {}])) });
const catalog = [
  { ...inventedBreach("Logs"), IsStealerLog: true },
  { ...inventedBreach("Later"), IsStealerLog: true },
  inventedBreach("Alpha"),
];

/** What HIBP says of the aliases of each domain; a number is the status of a refusal. */
let logs: Record<string, unknown[]> | number;

beforeEach(async () => {
  const { answer } = workers.upstream;
  Object.assign(workers, { catalog, plan: { IncludesStealerLogs: true } });
  workers.upstream.answer = (path, request, response) => {
    if (!path.startsWith("stealerlogsbyemaildomain/")) answer(path, request, response);
    else if (typeof logs === "number") reply(response, logs, {});
    else reply(response, 200, logs);
  };
  await subscription.refresh();
});

const questions = (): number =>
  workers.upstream.requests.filter(({ path }) => path.startsWith("stealerlogsbyemaildomain/")).length;

/** Scans and returns "address breach: websites" of each finding, and how many questions about stealer logs it took. */
const scanOnce = async (org: number) => {
  const before = questions();
  const scanId = await startAndPlan(org);
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", failedEmails: 0 });
  const { breaches } = await detailed.list(org, { limit: 100, offset: 0, order: "newest" });
  const found = breaches.map(
    ({ email, breach, stealerLogDomains }) =>
      `${email} ${breach.name}: ${stealerLogDomains?.join() ?? "unknown"}`,
  );
  return { found: found.sort(), asked: questions() - before };
};

test("are asked for once a domain when a stealer log is new, of 20,000 aliases too", async () => {
  const many = Array.from({ length: 60 }, (_, index) => `site${index}.example`);
  const others = Array.from({ length: 20_000 }, (_, index) => [`other${index}`, ["shop.example"]]);
  logs = { ...Object.fromEntries(others), user0: ["bank.example", "mail.example"], user1: many };
  workers.breached["asked.example"] = { 0: ["Logs", "Alpha"], 1: ["Logs"], 2: ["Alpha"] };
  const org = await createOrganization({ "asked.example": 3 });
  const first = [
    "user0@asked.example Alpha: unknown",
    "user0@asked.example Logs: bank.example,mail.example",
    `user1@asked.example Logs: ${many.slice(0, 50).join()}`,
    "user2@asked.example Alpha: unknown",
  ];
  expect(await scanOnce(org)).toEqual({ found: first, asked: 1 });
  expect(await scanOnce(org)).toEqual({ found: first, asked: 0 });

  logs = { user2: ["new.example"] };
  workers.breached["asked.example"] = { 0: ["Logs", "Alpha"], 1: ["Logs"], 2: ["Alpha", "Later"] };
  expect(await scanOnce(org)).toEqual({
    found: [...first, "user2@asked.example Later: new.example"],
    asked: 1,
  });
});

test("are listed with those of the organization's own domains first", async () => {
  logs = {
    user0: ["bank.example", "vpn.own.example", "notown.example", "own.example"],
    user1: ["bank.example"],
  };
  workers.breached["own.example"] = { 0: ["Logs"], 1: ["Logs", "Alpha"] };
  const org = await createOrganization({ "own.example": 2 });
  await scanOnce(org);
  const { breaches } = await detailed.list(org, { limit: 100, offset: 0, order: "newest" });
  const found = new Map(
    breaches.map(({ email, breach, stealerLogDomains, ownLogins }) => [
      `${email} ${breach.name}`,
      { stealerLogDomains, ownLogins },
    ]),
  );
  const ownLogins = ["vpn.own.example", "own.example"];
  expect(found.get("user0@own.example Logs")).toEqual({
    stealerLogDomains: [...ownLogins, "bank.example", "notown.example"],
    ownLogins,
  });
  expect(found.get("user1@own.example Logs")).toEqual({ stealerLogDomains: ["bank.example"], ownLogins: [] });
  expect(found.get("user1@own.example Alpha")).toEqual({});
});

test("that no website has as its name are left out, and the others stay", async () => {
  logs = { user0: ["bank.example", "\ud800", "x".repeat(254), 7, null, "a\u0000b", "mail.example"] };
  workers.breached["odd.example"] = { 0: ["Logs"] };
  const org = await createOrganization({ "odd.example": 1 });
  expect(await scanOnce(org)).toEqual({
    found: ["user0@odd.example Logs: bank.example,mail.example"],
    asked: 1,
  });
});

test("are not asked for where the plan has no stealer logs", async () => {
  workers.plan = {};
  await subscription.refresh();
  workers.breached["core.example"] = { 0: ["Logs"] };
  const org = await createOrganization({ "core.example": 1 });
  expect(await scanOnce(org)).toEqual({ found: ["user0@core.example Logs: unknown"], asked: 0 });
});

test("that HIBP refuses leave the finding without websites, and the scan complete", async () => {
  logs = 403;
  workers.breached["silent.example"] = { 0: ["Logs"] };
  const org = await createOrganization({ "silent.example": 1 });
  expect(await scanOnce(org)).toEqual({ found: ["user0@silent.example Logs: unknown"], asked: 1 });
});
