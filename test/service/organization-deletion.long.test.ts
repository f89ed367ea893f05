import { setTimeout } from "node:timers/promises";
import { GetScheduleCommand, ResourceNotFoundException, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { connect, type Stack } from "../../bin/admin/connect.ts";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { secondsAfter } from "../../shared/contract/alert-timing.ts";
import * as deletion from "../../shared/operations/deletion.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { type Client, createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

/** At this speed rows are deleted 5 s after a deletion has begun, by a sweep every 1.7 s. */
const speed = ["--speed", "180"];

/** Looked up one by one. */
const singleAddresses = 200;

let hibp: HibpServer;
let service: LocalService;
let stack: Stack;

beforeAll(async () => {
  hibp = await startHibpServer();
  hibp.covered = ["covered.example"];
  // Five look-ups a second: the scan takes longer than the deletion waits.
  hibp.rpm = 300;
  service = await startOwnService([
    "--memory",
    ...speed,
    "--hibp-url",
    hibp.url,
    "--allow-origin",
    inject("receiverUrl"),
  ]);
  stack = await connect({ port: String(service.port), stack: undefined });
});

afterAll(async () => {
  await service?.stop();
  await hibp?.close();
});

const run = (command: string, flags: Record<string, string | number>) =>
  admin(command, flags, service.apiUrl);

type Everything = { org: number; api: Client; browser: Client };

/** Creates an organization that has rows of every kind; all of its texts contain `name`. */
const createWithEverything = async (name: string): Promise<Everything> => {
  const { id: org } = await run("org create", { name, "scan-every": "week" });
  const { id: covered } = await run("domain add", { org, name: "covered.example", verified: "" });
  await run("domain add", { org, name: `${name}.example`, verified: "" });
  const { id: teamId } = await run("team create", { org, name: `${name} team` });
  const user = await run("user create", { org, email: `user@${name}.example`, role: "admin" });
  const { cookie } = await run("session create", { org, user: user.id });
  const { id: formerKey } = await run("key create", { org, label: `${name} former key` });
  await run("key revoke", { org, key: formerKey });
  const former = await run("user create", { org, email: `former@${name}.example`, role: "admin" });
  await run("user remove", { org, user: former.id });
  const { key } = await run("key create", { org, label: `${name} key` });
  const api = createClient({ authorization: `Bearer ${key}` }, service.apiUrl);
  const origin = new URL(service.apiUrl).origin;
  const browser = createClient({ cookie: String(cookie), origin }, service.apiUrl);

  const url = `${inject("receiverUrl")}/deletion-${name}-${org}`;
  const every = { notifyOnScanComplete: true };
  await api.post("/alert-configs", { channel: "webhook", config: { url, secret: name }, ...every });
  await api.post("/alert-configs", { channel: "slack", config: { webhookUrl: url }, ...every });
  const recipients = [`alerts@${name}.example`];
  const email = await api.post("/alert-configs", { channel: "email", config: { recipients } });
  await api.delete(`/alert-configs/${email.body.id}`);

  for (const alias of ["one", "two", "three"]) {
    const address = `${name}-${alias}@covered.example`;
    hibp.accounts[address] = ["Alpha", "Beta"];
    const body = { email: address, domainId: covered, teamId, ownerName: `${name} owner` };
    expect((await api.post("/emails", body)).status).toBe(201);
  }
  expect(await scan(api)).toMatchObject({ status: "completed", newBreachesFound: 6 });
  const breaches = await api.list("/breaches");
  await browser.post("/breaches/acknowledge", { id: breaches[0]?.id, reason: `${name} reason` });
  await api.delete(`/emails?id=${breaches.at(-1)?.emailId}`);
  return { org, api, browser };
};

/**
 * What of a deleted organization outlives it: limits, which expire, and the operators' log, which says who deleted it.
 */
const isKept = ({ pk }: Key): boolean => pk.startsWith("LIMIT#") || pk === "OPERATOR-LOG";

const readTable = async (): Promise<Key[]> => {
  const rows: Key[] = [];
  for await (const page of table.scanPages()) rows.push(...page);
  return rows;
};

const readRows = async (org: number): Promise<Key[]> =>
  (await readTable()).filter(({ pk }) => `${pk}#`.startsWith(`ORG#${org}#`));

const hasSchedule = (org: number): Promise<boolean> =>
  new SchedulerClient()
    .send(
      new GetScheduleCommand({
        Name: `organization-${org}`,
        GroupName: stack.outputs.ScheduleGroupName,
      }),
    )
    .then(
      () => true,
      (error: Error) => {
        if (error instanceof ResourceNotFoundException) return false;
        throw error;
      },
    );

const statuses = async ({ api, browser }: Everything): Promise<number[]> =>
  (await Promise.all([api.get("/emails"), browser.get("/emails"), api.post("/scans")])).map(
    ({ status }) => status,
  );

test("a deletion ends access and scan at once, and deletes all of it even if cut off", async () => {
  const [deleted, other] = await Promise.all([
    createWithEverything("departed"),
    createWithEverything("kept"),
  ]);
  const { org } = deleted;
  expect(await Promise.all([org, other.org].map(hasSchedule))).toEqual([true, true]);

  const addresses = Array.from({ length: singleAddresses }, (_, index) => `user${index}@departed.example`);
  for (const address of addresses) hibp.accounts[address] = ["Alpha"];
  await run("email import", { org, file: await writeAddresses(addresses) });
  expect((await deleted.api.post("/scans")).status).toBe(201);
  const lookUps = () => hibp.requests.filter(({ path }) => path.startsWith("breachedaccount/")).length;
  await eventually(
    async () => lookUps(),
    (count) => count > 0,
  );

  // The service's sweep would delete rows after five seconds, before the next steps are done on a busy
  // machine. So the row tells the sweep that the deletion begins an hour later.
  const waitSeconds = -3_600;
  const holdSweep = (): Promise<unknown> =>
    table.update(keys.organization(org), {
      set: { deletingSince: secondsAfter(new Date(), -waitSeconds) },
    });
  const resume = (hasTime: boolean) => deletion.resume(keys.organization(org), waitSeconds, () => hasTime);
  expect(await run("org delete", { org, name: "departed" })).toEqual({ id: org, deleting: true });
  await holdSweep();
  expect(await statuses(deleted)).toEqual([401, 401, 401]);
  expect(await statuses(other)).toEqual([200, 200, 201]);
  expect(await Promise.all([org, other.org].map(hasSchedule))).toEqual([false, true]);
  await expect(run("org show", { org })).rejects.toThrow(`There is no organization ${org}:`);
  await expect(run("key create", { org, label: "x" })).rejects.toThrow("There is no organization");

  // A scan that starts at the same moment ends too. Nothing is deleted while it may still be at work.
  const rowsBefore = (await readRows(org)).length;
  // Workers that end take rows of the scan away.
  const emailRows = async () => (await readRows(org)).filter(({ pk }) => pk.includes("#EMAIL#")).length;
  const emailsBefore = await emailRows();
  expect(emailsBefore).toBeGreaterThan(singleAddresses);
  await table.put({ ...keys.scanLock(org), scanId: 1 });
  await resume(true);
  expect(await table.get(keys.scanLock(org))).toBeUndefined();
  await holdSweep();
  expect(await emailRows()).toBe(emailsBefore);

  // The deletion runs out of time, then is cut off: the next sweep finds it, and requests are still refused.
  await resume(false);
  expect(await emailRows()).toBe(emailsBefore);
  await cutOffAfter(60, () => resume(true));
  const rowsLeft = await readRows(org);
  expect(rowsLeft.length).toBeLessThan(rowsBefore);
  expect(rowsLeft.map(({ sk }) => sk)).toContain("ORGANIZATION");
  expect(await statuses(deleted)).toEqual([401, 401, 401]);

  await table.update(keys.organization(org), { set: { deletingSince: new Date().toISOString() } });
  await eventually(
    async () => (await readRows(org)).length,
    (count) => count === 0,
  );
  // No worker writes rows of the organization any more, and no address of it is looked up.
  const before = lookUps();
  expect(before).toBeLessThan(singleAddresses);
  await setTimeout(2_000);
  expect(lookUps()).toBe(before);
  // HIBP tells the other organization, which has the same domain, of addresses that it does not watch.
  const isOfOther = ({ pk }: Key) => pk.startsWith(`ORG#${other.org}#UNWATCHED#`);
  const rest = (await readTable()).filter((row) => !isKept(row) && !isOfOther(row));
  expect(rest.filter((row) => JSON.stringify(row).includes("departed"))).toEqual([]);
  expect(await readRows(org)).toEqual([]);
  await expect(run("org delete", { org, name: "departed" })).rejects.toThrow(
    `There is no organization ${org}:`,
  );
  expect(await statuses(deleted)).toEqual([401, 401, 401]);

  expect((await other.api.get("/breaches")).body).toMatchObject({ total: 4, unacknowledged: 3 });
  expect((await other.api.get("/emails")).body.total).toBe(2);
  expect((await other.api.get("/alert-configs")).body.configs).toHaveLength(2);

  // The id is not used again.
  expect((await run("org create", { name: "New", "scan-every": "never" })).id).toBeGreaterThan(
    Math.max(org, other.org),
  );
});

/** Makes deletes fail after the given number, as if the worker had died. */
const cutOffAfter = async (deletes: number, act: () => Promise<void>): Promise<void> => {
  let left = deletes;
  const stop = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
    if (commandName?.startsWith("Delete") && left-- <= 0) throw new Error("cut off");
    return next(sent);
  });
  try {
    await expect(act()).rejects.toThrow("cut off");
  } finally {
    stop();
  }
};
