import { beforeAll, describe, expect, test } from "vitest";
import { organizationLimits } from "../../shared/contract/limits.ts";
import { addEmail } from "../endpoints/emails.ts";
import { presetCount, subjects } from "../endpoints/limit-window.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import type { Row } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { signedIn } from "./signed-in.ts";

/**
 * An organization that watches `nobody@demo.example` and was scanned: twelve addresses of the built-in
 * breaches are unwatched.
 */
const scanned = async (flags: Record<string, string> = {}) => {
  const organization = await createOrganization(flags);
  const { id: org, api } = organization;
  const file = await writeAddresses(["nobody@demo.example"]);
  await admin("email import", { org, file });
  await scan(api);
  const user = await signedIn(org, { role: "member" });
  const list = async (query = "") => {
    const { status, body } = await user.dashboard.get(`/unwatched?limit=100&${query}`);
    expect(status).toBe(200);
    return body as typeof body & { addresses: Row[] };
  };
  const idOf = async (name: string): Promise<number> =>
    (await list()).addresses.find(({ email }) => email === `${name}@demo.example`)?.id ?? 0;
  const post = (path: "watch" | "ignore", body: unknown) => user.dashboard.post(`/unwatched/${path}`, body);
  const logged = async () =>
    (await api.list("/activity")).map(({ action, summary }) => `${action}: ${summary}`);
  return { ...organization, user, list, idOf, post, logged };
};

type Scanned = Awaited<ReturnType<typeof scanned>>;

let known: Scanned;
let other: Scanned;
beforeAll(async () => {
  [known, other] = await Promise.all([scanned(), scanned()]);
});

describe("listing", () => {
  test("has every breached address that nobody watches, with its worst breaches", async () => {
    const { list, domainId, user } = known;
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
      lastNewAt: timestamp,
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
    const worstFirst = ["critical", "high", "medium", "low"].flatMap((level) =>
      all.filter(({ severity }) => severity === level),
    );
    expect((await list("order=severity")).addresses).toEqual(worstFirst);
    expect((await list(`domainId=${domainId}&ignored=false`)).total).toBe(12);
    expect(await list("ignored=true")).toMatchObject({ addresses: [], total: 0, unwatched: 12 });
    expect(await list(`domainId=${domainId + 1_000_000}`)).toMatchObject({ total: 0, unwatched: 12 });
    const [
      {
        breaches: [worst],
      } = { breaches: [] },
    ] = critical;
    expect((await list(`breachId=${worst.id}`)).addresses).toEqual(
      all.filter(({ breaches }) => breaches.some(({ id }: Row) => id === worst.id)),
    );
    expect((await list("q=EDS")).addresses.map(({ email }) => email)).toEqual(["edsger@demo.example"]);
  });

  test("404 for an id that is not there: one refuses all", async () => {
    const { idOf, list, post, api } = known;
    const id = await idOf("ada");
    for (const wrong of [unknownId, await other.idOf("ada")]) {
      for (const dryRun of [true, false])
        expectRefusal(await post("watch", { ids: [id, wrong], dryRun }), 404, /unwatched address/);
      expectRefusal(await post("ignore", { ids: [id, wrong], ignored: true }), 404, /unwatched address/);
    }
    expect((await api.get("/emails")).body.total).toBe(1);
    expect(await list("ignored=false")).toMatchObject({ total: 12, unwatched: 12 });
    expect(await other.list()).toMatchObject({ total: 12, unwatched: 12 });
  });

  // compare.test.ts has what scans make of the list.
  test("says from when it is without a proof; then nobody can watch them", async () => {
    const { list, post, api, domainId, id: org } = known;
    await admin("domain unverify", { org, domain: domainId });
    const listed = await list();
    expect(listed).toMatchObject({ total: 12, domains: [{ asOf: timestamp, isCurrent: false }] });
    const ids = listed.addresses.map(({ id }) => id);
    for (const dryRun of [true, false])
      expectRefusal(await post("watch", { ids, dryRun }), 400, /not verified/);
    expect((await api.get("/emails")).body.total).toBe(1);
  });
});

test("ignored addresses stay so, with what is known of them, until taken back", async () => {
  const { list, post, idOf, logged, user } = other;
  const { addresses: before } = await list();
  const ids = [await idOf("ada"), await idOf("grace")];
  const ignore = (ignored: boolean) => post("ignore", { ids: [...ids, ...ids], ignored });
  for (let time = 0; time < 2; time++) {
    const { status, body } = await ignore(true);
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, changed: time === 0 ? 2 : 0, at: timestamp });
    expect(await list()).toMatchObject({ total: 12, unwatched: 10 });
  }
  const { addresses, total } = await list("ignored=true");
  expect(total).toBe(2);
  const known = before.filter(({ id }) => ids.includes(Number(id)));
  expect(addresses).toEqual(known.map((each) => ({ ...each, ignored: true })));
  expect((await user.dashboard.get("/overview")).body.unwatched).toBe(10);

  await ignore(false);
  expect(await list("ignored=false")).toMatchObject({ addresses: before, total: 12, unwatched: 12 });
  expect((await logged()).filter((each) => each.startsWith("unwatched"))).toEqual([
    "unwatched.restored: Stopped ignoring 2 unwatched addresses",
    "unwatched.ignored: Ignored 2 unwatched addresses",
  ]);
});

test("all that match are ignored at once, and exactly they come back", async () => {
  const { list, post } = other;
  const filter = { severity: ["critical"] };
  const { total } = await list("severity=critical");
  const { status, body } = await post("ignore", { filter, ignored: true });
  expect({ status, changed: body.changed }).toEqual({ status: 200, changed: total });
  expect(await list("severity=critical&ignored=false")).toMatchObject({
    total: 0,
    unwatched: 12 - Number(total),
  });
  await post("ignore", { filter: { ignoredAt: body.at }, ignored: false });
  expect(await list("ignored=false")).toMatchObject({ total: 12, unwatched: 12 });
});

describe("watching", () => {
  test("adds them as an import does, and the next scan makes their findings", async () => {
    const { id: org, list, idOf, post, api, domainId, logged } = await scanned();
    const ids = [await idOf("ada"), await idOf("alan")];
    const quote = { newSeatsCount: 3, newActiveCount: 3 };
    // A dry run says what it costs, also where the limit is used up.
    const { importCommits } = organizationLimits;
    const counted = subjects.organization(org, "importCommits");
    await presetCount(counted, importCommits, 3600);
    expect((await post("watch", { ids })).status).toBe(429);
    expect(await post("watch", { ids, dryRun: true })).toMatchObject({ status: 200, body: { quote } });
    await presetCount(counted, -importCommits, 3600);
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
    // Again, as a client does that got no reply.
    expect((await post("watch", { ids })).body).toEqual({ addedCount: 0, disabledCount: 0 });

    // What is watched meanwhile is left out, whoever is faster.
    const others = [await idOf("edsger"), await idOf("grace"), await idOf("hedy")];
    await addEmail(api, domainId, "edsger@demo.example");
    const replies = await Promise.all(
      [others, others.toReversed()].map((some) => post("watch", { ids: some })),
    );
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect(replies.reduce((sum, { body }) => sum + Number(body.addedCount), 0)).toBe(2);
    expect((await list()).total).toBe(7);
    expect((await api.get("/emails")).body.total).toBe(6);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("goes as far as there are seats, and adds the others disabled", async () => {
    const { list, post, api } = await scanned({ "seat-allowance": "3" });
    const ids = (await list()).addresses.map(({ id }) => id);
    expect((await post("watch", { ids })).body).toEqual({ addedCount: 12, disabledCount: 10 });
    expect((await api.get("/emails?isActive=true")).body.total).toBe(3);
    expect(await list()).toMatchObject({ total: 0, unwatched: 0 });
  });
});
