import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { scan } from "../service/scan.ts";
import { scanned } from "./unwatched.ts";

let unwatched: Awaited<ReturnType<typeof scanned>>;
beforeAll(async () => {
  unwatched = await scanned();
});

describe("200", () => {
  test("every breached address of a domain that nobody watches, with its worst breaches", async () => {
    const { list, domainId, user } = unwatched;
    const listed = await list();
    expect(listed).toMatchObject({ total: 12, unwatched: 12 });
    expect(listed.addresses.find(({ email }) => email === "edsger@demo.example")).toEqual({
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
  });

  test("pages and filters, with exact totals", async () => {
    const { list, domainId, user } = unwatched;
    const all = (await list()).addresses;
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

  test("without those that are watched since the last scan, once another scan ends", async () => {
    const { list, api, domainId, id: org } = unwatched;
    await addEmail(api, domainId, "ada@demo.example");
    await scan(api);
    expect(await list()).toMatchObject({ total: 11, unwatched: 11 });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("nothing of another organization, and nothing before a scan", async () => {
    const { user } = await scanned();
    const other = await unwatched.list();
    const { body } = await user.dashboard.get("/unwatched?limit=100");
    const ids = new Set((body.addresses as { id: number }[]).map(({ id }) => id));
    expect(other.addresses.filter(({ id }) => ids.has(id))).toEqual([]);
  });

  test("of a domain that lost its verification, with the date and no claim", async () => {
    const { id: org, domainId, list } = await scanned();
    await admin("domain unverify", { org, domain: domainId });
    expect(await list()).toMatchObject({ total: 12, domains: [{ asOf: timestamp, isCurrent: false }] });
  });
});

describe("400", () => {
  test.each([
    "severity=worst",
    "severity=",
    "severity=high&severity=low",
    "ignored=1",
    "domainId=x",
    "limit=0",
    "limit=101",
  ])("%s", async (query) => {
    expectRefusal(await unwatched.user.dashboard.get(`/unwatched?${query}`), 400, /./);
  });
});
