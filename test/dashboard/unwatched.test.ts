import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { scan } from "../service/scan.ts";
import { scanned } from "./unwatched.ts";

describe("GET", () => {
  test("every breached address that nobody watches, with its worst breaches, by page", async () => {
    const { list, domainId, user } = await scanned();
    const listed = await list();
    expect(listed).toMatchObject({ total: 12, unwatched: 12 });
    const { addresses: all } = listed;
    expect(all.find(({ email }) => email === "edsger@demo.example")).toEqual({
      id: expect.any(Number),
      email: "edsger@demo.example",
      domain: { id: domainId, name: "demo.example" },
      severity: "critical",
      breachCount: 2,
      breaches: [
        { id: expect.any(Number), title: "Example Stealer Logs (invented)" },
        { id: expect.any(Number), title: "Example Forum (invented)" },
      ],
      firstSeenAt: timestamp,
      ignored: false,
    });
    expect(listed.domains).toEqual([
      { id: domainId, name: "demo.example", unwatched: 12, asOf: timestamp, isCurrent: true },
    ]);
    expect((await user.dashboard.get("/overview")).body.unwatched).toBe(12);

    const page = await user.dashboard.get("/unwatched?limit=5&offset=10");
    expect(page.body).toMatchObject({ addresses: all.slice(10), total: 12, unwatched: 12 });
    const critical = all.filter(({ severity }) => severity === "critical");
    expect(critical.length).toBeGreaterThan(0);
    expect((await list("severity=critical")).addresses).toEqual(critical);
    const worse = all.filter(({ severity }) => severity === "critical" || severity === "high");
    expect(await list("severity=critical,high")).toMatchObject({ addresses: worse, total: worse.length });
    expect((await list(`domainId=${domainId}&ignored=false`)).total).toBe(12);
    expect(await list("ignored=true")).toMatchObject({ addresses: [], total: 0, unwatched: 12 });
    expect(await list(`domainId=${domainId + 1_000_000}`)).toMatchObject({ total: 0, unwatched: 12 });
  });

  test("without those watched since; with the date where a domain lost its proof", async () => {
    const { list, api, domainId, id: org } = await scanned();
    await addEmail(api, domainId, "ada@demo.example");
    await scan(api);
    expect(await list()).toMatchObject({ total: 11, unwatched: 11 });
    await admin("domain unverify", { org, domain: domainId });
    expect(await list()).toMatchObject({ total: 11, domains: [{ asOf: timestamp, isCurrent: false }] });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });
});

describe("ignoring", () => {
  test("addresses stay so and nothing else is kept of them, until that is taken back", async () => {
    const { id: org, list, post, api, idOf, logged, user } = await scanned();
    const ids = [await idOf("ada"), await idOf("grace")];
    const ignore = (ignored: boolean) => post("ignore", { ids: [...ids, ...ids], ignored });
    for (let time = 0; time < 2; time++) {
      expect(await ignore(true)).toMatchObject({ status: 200, body: { success: true } });
      expect(await list()).toMatchObject({ total: 12, unwatched: 10 });
      await scan(api);
    }
    const { addresses, total } = await list("ignored=true");
    expect(total).toBe(2);
    expect(addresses.find(({ email }) => email === "ada@demo.example")).toMatchObject({
      id: ids[0],
      severity: null,
      breachCount: 0,
      breaches: [],
      firstSeenAt: null,
      ignored: true,
    });
    expect((await user.dashboard.get("/overview")).body.unwatched).toBe(10);

    await ignore(false);
    expect(await list("ignored=false")).toMatchObject({ total: 12, unwatched: 12 });
    // The next scan says what is known of them.
    await scan(api);
    const ada = (await list("ignored=false")).addresses.find(({ id }) => id === ids[0]);
    expect(ada).toMatchObject({ breachCount: 3, ignored: false });
    expect((await logged()).filter((each) => each.startsWith("unwatched"))).toEqual([
      "unwatched.restored: Stopped ignoring 2 unwatched addresses",
      "unwatched.ignored: Ignored 2 unwatched addresses",
    ]);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("skips addresses that were watched meanwhile", async () => {
    const { list, post, idOf } = await scanned();
    const ids = [await idOf("ada"), await idOf("alan")];
    await post("watch", { ids: ids.slice(0, 1) });
    expect((await post("ignore", { ids, ignored: true })).status).toBe(200);
    expect(await list("ignored=true")).toMatchObject({ total: 1, unwatched: 10 });
  });
});

describe("watching", () => {
  test("adds them as an import does, and the next scan makes their findings", async () => {
    const { id: org, list, idOf, post, api, logged } = await scanned();
    const ids = [await idOf("ada"), await idOf("alan")];
    const quote = { newSeatsCount: 3, newActiveCount: 3 };
    // A dry run says what it costs and counts against no limit.
    for (let time = 0; time < 25; time++) {
      const dry = await post("watch", { ids, dryRun: true });
      expect(dry).toMatchObject({ status: 200, body: { quote } });
    }
    expect((await api.get("/emails")).body.total).toBe(1);
    expect((await list()).total).toBe(12);
    expect(await post("watch", { ids: [...ids, ...ids] })).toMatchObject({
      status: 201,
      body: { addedCount: 2, disabledCount: 0 },
    });
    expect(await list()).toMatchObject({ total: 10, unwatched: 10 });
    expect(await logged()).toContain("emails.imported: Imported 2 addresses");
    expect((await scan(api)).newBreachesFound).toBe(4);
    expect((await list()).total).toBe(10);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
    // Again, as a client does that got no reply.
    expect((await post("watch", { ids })).body).toEqual({ addedCount: 0, disabledCount: 0 });
  });

  test("goes as far as there are seats, and adds the others disabled", async () => {
    const { list, post, api } = await scanned({ "seat-allowance": "3" });
    const ids = (await list()).addresses.map(({ id }) => id);
    expect((await post("watch", { ids })).body).toEqual({ addedCount: 12, disabledCount: 10 });
    expect((await api.get("/emails?isActive=true")).body.total).toBe(3);
    expect((await list()).total).toBe(0);
    await scan(api);
    expect(await list()).toMatchObject({ total: 0, unwatched: 0 });
  });

  test("leaves out what is watched meanwhile, whoever is faster", async () => {
    const { id: org, idOf, post, api, domainId, list } = await scanned();
    const ids = [await idOf("ada"), await idOf("alan"), await idOf("grace")];
    await addEmail(api, domainId, "ada@demo.example");
    const replies = await Promise.all([post("watch", { ids }), post("watch", { ids: ids.toReversed() })]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect(replies.reduce((sum, { body }) => sum + Number(body.addedCount), 0)).toBe(2);
    expect((await list()).total).toBe(9);
    expect((await api.get("/emails")).body.total).toBe(4);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });
});

test("404, and 400 for a domain that lost its proof: one id refuses all", async () => {
  const { id: org, domainId, idOf, list, post, api } = await scanned();
  const other = await scanned();
  const known = await idOf("ada");
  const watch = (ids: number[], dryRun: boolean) => post("watch", { ids, dryRun });
  for (const id of [unknownId, await other.idOf("ada"), known + 1]) {
    for (const dryRun of [true, false])
      expectRefusal(await watch([known, id], dryRun), 404, /unwatched address/);
    expectRefusal(await post("ignore", { ids: [known, id], ignored: true }), 404, /unwatched address/);
  }
  const ids = (await list()).addresses.map(({ id }) => id);
  await admin("domain unverify", { org, domain: domainId });
  for (const dryRun of [true, false]) expectRefusal(await watch(ids, dryRun), 400, /not verified/);
  expect((await api.get("/emails")).body.total).toBe(1);
  expect(await list("ignored=false")).toMatchObject({ total: 12, unwatched: 12 });
  expect(await other.list()).toMatchObject({ total: 12, unwatched: 12 });
});
