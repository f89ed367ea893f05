import { globSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { commit } from "../../shared/monitoring/imports/commit.ts";
import { plan } from "../../shared/monitoring/imports/plan.ts";
import { commandLine } from "./admin.ts";
import { createBreaches } from "./breaches.ts";
import { eventually } from "./eventually.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { receivedAt } from "./receiver.ts";
import { listFindings, scan } from "./scan.ts";

const domain = "slow-table.example";
const names = ["Alpha", "Beta", "Gamma"];
const accounts: Record<string, string[]> = Object.fromEntries(
  Array.from({ length: 100 }, (_, index): [string, string[]] => [
    `user${index}@${domain}`,
    names.slice(0, index % 4),
  ]),
);
const expected = Object.entries(accounts).flatMap(([address, breaches]) =>
  breaches.map((name) => `${address} ${name}`),
);

let service: LocalService;
let organization: Organization;
beforeAll(async () => {
  const breaches = await createBreaches(
    accounts,
    names.map((name) => inventedBreach(name)),
  );
  service = await startOwnService([
    ...["--memory", "--speed", "200", "--breaches", breaches],
    ...["--allow-origin", inject("receiverUrl")],
    ...["--table-latency", "4/8/30", "--lost-replies", "0.02"],
    ...["--index-lag", "700"],
  ]);
  organization = await createOrganization({}, { domain, apiUrl: service.apiUrl });
});
afterAll(() => service?.stop());

/**
 * Acknowledges open findings until the scan is over, as often as a key may in a minute; gives the answers' statuses.
 */
const acknowledge = async (isOver: () => boolean): Promise<number[]> => {
  const api = await createKeyClient(organization.id, service.apiUrl);
  const statuses: number[] = [];
  while (!isOver() && statuses.length < 75) {
    const { status, body } = await api.get("/breaches?acknowledged=false&limit=5");
    if (status !== 200) statuses.push(status);
    for (const { id } of (body.breaches ?? []) as { id: number }[]) {
      statuses.push((await api.post("/breaches/acknowledge", { id })).status);
    }
    await pause(300);
  }
  return statuses;
};

test("people and workers at once, on a table that is slow and lags", async () => {
  const { id: org, api } = organization;
  const inbox = (name: string) => `${inject("receiverUrl")}/slow-table-${org}-${name}`;
  for (const url of [inbox("working"), `${inbox("failing")}?status=500`]) {
    expect((await api.post("/alert-configs", { channel: "webhook", config: { url } })).status).toBe(201);
  }
  const candidates = Object.keys(accounts).map((email) => ({ email }));
  await commit(org, await plan(org, candidates), administrator);

  const scanning = scan(api, 400);
  let isOver = false;
  const people = Array.from({ length: 4 }, () => acknowledge(() => isOver));
  expect(await scanning).toMatchObject({ status: "completed", newBreachesFound: expected.length });
  isOver = true;
  const statuses = (await Promise.all(people)).flat();
  // On a busy machine a call can take longer than the table's patience with people, and is then 503.
  const [, directory = ""] = /logs go to (\S+)/.exec(service.output()) ?? [];
  const logs = globSync(`${directory}/logs/*.log`).map((file) => readFileSync(file, "utf8"));
  const errors = logs.join("\n").match(/.*("level":"ERROR"|timed out).*/g) ?? [];
  expect(
    statuses.filter((status) => status !== 200 && status !== 503),
    errors.join("\n"),
  ).toEqual([]);
  expect(statuses).toContain(200);
  expect((await listFindings(api)).sort()).toEqual(expected.sort());

  // An address without breaches is not alerted; an alert may come twice, as its reply can get lost.
  const breached = Object.values(accounts).filter((breaches) => breaches.length > 0).length;
  const eventIds = async (name: string) =>
    new Set((await receivedAt(inbox(name))).map(({ body }) => JSON.parse(body.toString()).id as number));
  for (const name of ["working", "failing"]) {
    await eventually(
      () => eventIds(name),
      (ids) => ids.size === breached,
      400,
    );
  }
  expect(await commandLine("check", { org }, service.apiUrl)).toMatchObject({ differences: [] });
}, 1_200_000);
