/** Rules by the API: people leave, and their findings end. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Connected, connected } from "../people/connected.ts";
import { createChannel, inboxOf } from "../service/alert-channels.ts";
import type { Row } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { receivedAt } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { signedIn } from "./signed-in.ts";

const rulesOf = async ({ dashboard }: Connected): Promise<Row[]> =>
  (await dashboard.get("/rules")).body.rules as Row[];

const ruleOf = async (of: Connected, id: string): Promise<Row> =>
  (await rulesOf(of)).find((rule) => rule.id === id) as Row;

const findingsOf = async ({ dashboard }: Connected, query = ""): Promise<Row[]> =>
  (await dashboard.get(`/findings?limit=100${query}`)).body.findings as Row[];

const switchRule = ({ dashboard }: Connected, id: string, isOn: boolean) =>
  dashboard.put(`/rules/${id}`, { isOn });

const user = (email: string, of: Record<string, unknown> = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName: email,
  displayName: "Ada Lovelace",
  active: true,
  ...of,
});

let of: Connected;

beforeAll(async () => {
  of = await connected();
});

describe("200", () => {
  test("each rule is off until an admin switches it on", async () => {
    const off = { isOn: false, changedAt: null, ended: { total: 0, lastWeek: 0 } };
    expect(await rulesOf(of)).toEqual([
      { id: "left", ...off },
      { id: "password_changed", ...off },
      { id: "harmless", ...off },
    ]);
  });

  test("a leaver's findings end with the reason, as previewed, and open again", async () => {
    const fresh = await connected();
    const email = `ada@${fresh.domain}`;
    const { body } = await fresh.scim.post("/Users", user(email));
    await eventually(
      () => fresh.dashboard.list("/emails"),
      (rows) => rows.length === 1,
    );
    await scan(fresh.api);
    const before = await findingsOf(fresh);
    expect(before.length).toBeGreaterThan(1);
    expect(before.every(({ endedBy }) => endedBy === null)).toBe(true);
    await fresh.scim.patch(`/Users/${body.id}`, {
      Operations: [{ op: "replace", value: { active: false } }],
    });
    const preview = await eventually(
      async () => (await fresh.dashboard.post("/rules/left/preview")).body,
      ({ wouldEnd }) => Number(wouldEnd) > 0,
    );
    expect(preview).toMatchObject({ open: before.length, wouldEnd: before.length });
    expect(preview.examples).toHaveLength(Math.min(5, before.length));
    const switched = await switchRule(fresh, "left", true);
    expect(switched).toMatchObject({ status: 202, body: { id: "left", isOn: true } });
    const ended = await eventually(
      () => findingsOf(fresh, "&endedBy=left"),
      (rows) => rows.length === before.length,
    );
    const fact = expect.stringMatching(/^Ada Lovelace left \(Entra, \d{1,2} [A-Z][a-z]{2} \d{4}\)$/);
    expect(ended[0]).toMatchObject({
      acknowledged: true,
      resolution: "ignored",
      acknowledgedBy: null,
      acknowledgedByApiKey: null,
      acknowledgeReason: fact,
      endedBy: { rule: "left", fact, at: expect.any(String) },
    });
    expect(await ruleOf(fresh, "left")).toMatchObject({
      isOn: true,
      changedAt: switched.body.changedAt,
      ended: { total: before.length, lastWeek: before.length },
    });
    const overview = (await fresh.dashboard.get("/overview")).body;
    expect(overview.endedByRules).toEqual({
      left: before.length,
      password_changed: 0,
      harmless: 0,
      answered: 0,
    });
    // A person reopens one of them, and acknowledges another one.
    const [one, other] = ended.map(({ id }) => id);
    await fresh.api.post("/breaches/reopenings", { ids: [one] });
    await fresh.api.post("/breaches/acknowledge", { id: other });
    await eventually(
      () => findingsOf(fresh, "&acknowledged=false"),
      (rows) => rows.length === 1,
    );
    expect((await findingsOf(fresh, "&endedBy=person")).map(({ id }) => id)).toEqual([other]);
    await fresh.scim.patch(`/Users/${body.id}`, {
      Operations: [{ op: "replace", value: { active: true } }],
    });
    await eventually(
      () => findingsOf(fresh, "&acknowledged=false"),
      (rows) => rows.length === before.length - 1,
    );
    expect(await findingsOf(fresh, "&endedBy=left")).toEqual([]);
    const log = (await fresh.v1.list("/activity?category=findings")) as Row[];
    const ofRules = log.filter(({ actor }) => actor.type === "system");
    expect(ofRules.map(({ action, summary }) => [action, summary])).toEqual([
      [
        "findings.reopened",
        `Reopened ${before.length - 2} breach finding${before.length === 3 ? "" : "s"}, for which the rule ` +
          '"Left the company" does not hold any more',
      ],
      ["findings.acknowledged", `Rule "Left the company" ended ${before.length} breach findings as ignored`],
    ]);
    expect(log.map(({ action }) => action)).toContain("rule.updated");
  });

  test("what ends as it is recorded is told to webhooks alone", async () => {
    const fresh = await connected();
    await fresh.scim.post("/Users", user(`ada@${fresh.domain}`, { active: false }));
    await fresh.scim.post("/Users", user(`grace@${fresh.domain}`, { displayName: "Grace Hopper" }));
    const rows = await eventually(
      () => fresh.dashboard.list("/emails"),
      (all) => all.some(({ email }) => email === `grace@${fresh.domain}`),
    );
    await switchRule(fresh, "harmless", true);
    await switchRule(fresh, "left", true);
    expect(rows.length).toBeGreaterThan(0);
    const inbox = inboxOf(fresh, "hook");
    const hook = await createChannel(fresh.api, { channel: "webhook", config: { url: inbox } });
    expect(hook).toBeGreaterThan(0);
    await scan(fresh.api);
    const found = await findingsOf(fresh);
    const low = found.filter(({ severity }) => severity === "low");
    expect(low.every(({ endedBy }) => endedBy?.rule === "harmless")).toBe(true);
    const received = await eventually(
      () => receivedAt(inbox),
      (requests) => requests.length > 0,
    );
    expect(received.length).toBeGreaterThan(0);
  });
});

test("202 and 200 only for rules that there are: others are 404", async () => {
  for (const id of ["answered", "person", "1", "LEFT"]) {
    expect(await switchRule(of, id, true)).toMatchObject({ status: 404 });
    expect(await of.dashboard.post(`/rules/${id}/preview`)).toMatchObject({ status: 404 });
  }
});

test("400 for a switch that is no boolean, and an unknown filter", async () => {
  for (const isOn of ["true", 1, null, undefined])
    expect(await of.dashboard.put("/rules/left", { isOn })).toMatchObject({ status: 400 });
  expect(await of.dashboard.get("/findings?endedBy=nobody")).toMatchObject({ status: 400 });
});

test("403 for members who switch a rule, who may preview it", async () => {
  const member = await signedIn(of.id, { role: "member" });
  expect(await member.dashboard.put("/rules/left", { isOn: true })).toMatchObject({
    status: 403,
    body: { code: "admin_only" },
  });
  expect((await member.dashboard.get("/rules")).status).toBe(200);
  expect((await member.dashboard.post("/rules/harmless/preview")).body).toMatchObject({ wouldEnd: 0 });
  expect(await ruleOf(of, "left")).toMatchObject({ isOn: false });
});

test("a switch that changes nothing is not logged, and keeps its time", async () => {
  const first = await switchRule(of, "password_changed", true);
  const second = await switchRule(of, "password_changed", true);
  expect(second.body).toEqual(first.body);
  const log = await of.v1.list("/activity");
  expect(log.filter(({ action }) => action === "rule.updated")).toHaveLength(1);
});
