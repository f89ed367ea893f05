import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { entries } from "../../shared/access/activity/activity.ts";
import * as table from "../../shared/aws/table/table.ts";
import { findings } from "../../shared/findings/record.ts";
import { createToken, signedIn, visitor } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { addBreachedEmail } from "../service/alert-channels.ts";
import type { Client, Row } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createScanned } from "../service/scanned.ts";
import { expectRefusal } from "./reply.ts";

type Page = { items: Row[]; cursor: string; hasMore: boolean };

const read = async (api: Client, query = ""): Promise<Page> => {
  const reply = await api.get(`/feed${query}`);
  expect([reply.status, reply.body.error]).toEqual([200, undefined]);
  return reply.body as Page;
};

/** All items, by pages of `limit`. */
const readAll = async (api: Client, limit: number, format = "native"): Promise<Row[]> => {
  const items: Row[] = [];
  for (let page = await read(api, `?limit=${limit}&format=${format}`); ; ) {
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    if (!page.hasMore) return items;
    page = await read(api, `?limit=${limit}&format=${format}&after=${page.cursor}`);
  }
};

const uidOf = (item: Row): string =>
  item.metadata?.uid ?? `${item.type}-${item.type === "finding" ? item.finding?.id : item.entry?.id}`;

/** Makes the log entries that there are two minutes older, as if the test had waited. */
const waitForEntries = async ({ id: org, api }: Organization): Promise<void> => {
  const activity = await api.list("/activity?limit=100");
  for (const { id, createdAt } of activity) {
    const earlier = new Date(Date.parse(createdAt) - 120_000).toISOString();
    await table.update(entries.key(org, id), { set: { createdAt: earlier } });
  }
};

/** An organization whose scan has found something. */
const createOld = async (): Promise<Organization> => {
  const organization = await createScanned();
  await waitForEntries(organization);
  return organization;
};

/** Tests share it that remove nothing. */
let organization: Organization;
beforeAll(async () => {
  organization = await createOld();
});

describe("200", () => {
  test("findings come as the list gives them in full, and entries as the log does", async () => {
    const { api } = organization;
    const reply = await api.get("/feed");
    const { items, cursor, hasMore } = reply.body as Page;
    const breaches = await api.list("/breaches?include=details");
    const activity = await api.list("/activity?limit=100");
    expect(breaches.length).toBeGreaterThan(0);
    expect(activity.length).toBeGreaterThan(2);
    expect(items).toEqual([
      ...breaches.reverse().map((finding) => ({ type: "finding", at: finding.firstDetectedAt, finding })),
      ...activity.reverse().map((entry) => ({ type: "activity", at: entry.createdAt, entry })),
    ]);
    expect(hasMore).toBe(false);
    expect(await read(api, `?after=${cursor}`)).toEqual({ items: [], cursor, hasMore: false });
    // An entry that is not a minute old does not come yet.
    await admin("team create", { org: organization.id, name: "Finance" });
    expect((await read(api, `?after=${cursor}`)).items).toEqual([]);
    await waitForEntries(organization);
    expect((await read(api, `?after=${cursor}`)).items).toMatchObject([{ type: "activity" }]);
  });

  test("pages of any size and either format have the same items, each once", async () => {
    const { api } = organization;
    const all = (await read(api)).items.map(uidOf);
    expect(new Set(all).size).toBe(all.length);
    for (const [format, limit] of [
      ["native", 1],
      ["ocsf", 2],
    ] as const)
      expect((await readAll(api, limit, format)).map(uidOf)).toEqual(all);
    const first = await read(api, "?limit=2&format=native");
    const rest = await read(api, `?format=ocsf&after=${first.cursor}`);
    expect([...first.items, ...rest.items].map(uidOf)).toEqual(all);
  });

  test("what a later scan finds comes after the cursor, and removed findings do not", async () => {
    const organization = await createOld();
    const { api } = organization;
    const { cursor } = await read(api);
    const emails = await api.list("/emails");
    await api.delete(`/emails?id=${emails[0].id}`);
    expect((await read(api)).items.filter(({ type }) => type === "finding")).toEqual([]);
    await addBreachedEmail(organization);
    await scan(api);
    const breaches = await api.list("/breaches");
    expect(breaches.length).toBeGreaterThan(0);
    const { items } = await read(api, `?after=${cursor}`);
    const found = items.map(({ finding }) => finding?.id);
    expect(found).toEqual(breaches.map((finding) => finding.id).reverse());
  });
});

describe("format=ocsf", () => {
  const { $defs, ...classes } = JSON.parse(
    readFileSync(join(import.meta.dirname, "../cases/ocsf/classes.json"), "utf8"),
  );
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const validators = new Map([
    [2004, ajv.compile({ ...classes.detection_finding, $defs })],
    [6003, ajv.compile({ ...classes.api_activity, $defs })],
  ]);

  test("every event is valid by the published schema of its class", async () => {
    const { api } = organization;
    const user = await signedIn(organization.id);
    const [first, second] = await api.list("/breaches");
    await user.v1.post("/breaches/acknowledge", { id: first.id, resolution: "ignored", reason: "Known" });
    await api.post("/breaches/acknowledge", { id: second.id, resolution: "handled" });
    await user.dashboard.post("/exports", { list: "findings", filter: {}, rows: 1 });
    const token = await createToken(organization.id, user.userId);
    await visitor().post("/sign-in/sessions", { token });
    const websites = ["bank.example", "mail.example"];
    await table.update(findings.key(organization.id, first.id), {
      set: { stealerLogDomains: websites },
    });
    await waitForEntries(organization);
    const { items } = await read(api, "?format=ocsf");
    for (const event of items) {
      const validate = validators.get(Number(event.class_uid));
      validate?.(event);
      expect([event.class_uid, validate?.errors]).toEqual([event.class_uid, null]);
      expect(event.type_uid).toBe(Number(event.class_uid) * 100 + Number(event.activity_id));
      const activity = event.activity_id === 99 ? "Other" : event.activity_name;
      expect(event.type_name).toBe(`${event.class_name}: ${activity}`);
    }
    expect(new Set(items.map(({ class_uid }) => class_uid))).toEqual(new Set([2004, 6003]));
    const ofAction = (action: string) => items.find(({ api }) => api?.operation === action);
    expect(ofAction("member.added")).toMatchObject({ activity_name: "Create" });
    expect(ofAction("findings.exported")).toMatchObject({ activity_name: "Read", activity_id: 2 });
    expect(ofAction("member.signed_in")).toMatchObject({
      activity_id: 99,
      actor: { user: { email_addr: user.email } },
      message: expect.stringMatching(/ from 127\.\d+\.\d+\.0\/24$/),
    });
    expect(items.find(({ metadata }) => metadata.uid === `finding-${first.id}`)).toMatchObject({
      status_id: 3,
      comment: "Known",
      unmapped: { stealerLogDomains: websites },
    });
    const { items: native } = await read(api);
    expect(native.find(({ finding }) => finding?.id === first.id)).toMatchObject({
      finding: { stealerLogDomains: websites },
    });
  });
});

describe("400", () => {
  test("a cursor that is cut, changed, or of another organization", async () => {
    const organization = await createOrganization();
    await waitForEntries(organization);
    const { api } = organization;
    const { api: other } = await createOrganization();
    const { items, cursor } = await read(api);
    expect(items.length).toBeGreaterThan(0);
    const flipped = [...cursor].map((character, at) =>
      [cursor.slice(0, at), character === "A" ? "B" : "A", cursor.slice(at + 1)].join(""),
    );
    const cut = [...cursor].map((_, at) => cursor.slice(0, at));
    const some = [flipped, cut].flatMap((all) => [...all.slice(0, 4), ...all.slice(-3)]);
    for (const wrong of [...some, `${cursor}A`, `${cursor}=`, "null"])
      expectRefusal(await api.get(`/feed?after=${wrong}`), 400, /after: is no cursor/);
    expectRefusal(await other.get(`/feed?after=${cursor}`), 400, /after: is no cursor/);
    expect((await api.get(`/feed?after=${cursor}`)).status).toBe(200);
  });
});
