import { beforeAll, describe, expect, test } from "vitest";
import { severities } from "../../shared/hibp/severity-schema.ts";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Row } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
let other: SignedIn;
let all: Row[];
/** What the list must show, in any order. */
let expected: Row[];

const list = async (query = "") => {
  const { status, body } = await user.dashboard.get(`/breaches${query}`);
  expect(status).toBe(200);
  return body as { breaches: Row[]; total: number };
};

const expectedOf = (found: readonly Row[], unwatched: ReadonlyMap<number, number>): Row[] =>
  [...Map.groupBy(found, ({ breach }) => breach.id).values()].map((some) => {
    const times = some.map(({ firstDetectedAt }) => firstDetectedAt).sort();
    const open = some.filter(({ acknowledged }) => !acknowledged).length;
    return {
      ...some[0].breach,
      assignee: null,
      comments: 0,
      open,
      acknowledged: some.length - open,
      unwatched: unwatched.get(some[0].breach.id) ?? 0,
      firstDetectedAt: times[0],
      lastDetectedAt: times.at(-1),
    };
  });

/** How many addresses that nobody watches are in each breach. */
const unwatchedOf = async (): Promise<Map<number, number>> => {
  const counts = new Map<number, number>();
  for (const { breaches, breachCount } of await user.dashboard.list("/unwatched?limit=100")) {
    expect(breaches).toHaveLength(breachCount);
    for (const { id } of breaches) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
};

const readAll = () => user.dashboard.list("/findings?limit=100");

beforeAll(async () => {
  organization = await createOrganization();
  const { id: org, api, domainId } = organization;
  [user, other] = await Promise.all([signedIn(org), signedIn((await createOrganization()).id)]);
  await addEmail(api, domainId, "ada@demo.example");
  await addEmail(api, domainId, "alan@demo.example");
  await scan(api);
  const teamId = (await admin("team create", { org, name: "Team" })).id;
  const grace = await addEmail(api, domainId, "grace@demo.example");
  await user.dashboard.patch(`/emails/${grace}`, { teamId, ownerName: "Grace" });
  await scan(api);
  const found = await readAll();
  const [first] = found;
  for (const { id, breach } of found) {
    if (breach.id === first.breach.id) await api.post("/breaches/acknowledge", { id });
  }
  all = await readAll();
  const unwatched = await unwatchedOf();
  expected = expectedOf(all, unwatched);
  for (const [id, count] of unwatched) {
    if (expected.some((breach) => breach.id === id)) continue;
    const { body } = await user.dashboard.get(`/breaches/${id}`);
    const none = { open: 0, acknowledged: 0, firstDetectedAt: null, lastDetectedAt: null };
    expected.push({ ...body, id, ...none, unwatched: count });
  }
  expect(expected.some(({ lastDetectedAt }) => lastDetectedAt === null)).toBe(true);
});

test("GET /findings/{id} 200: each finding as the list gives it", async () => {
  for (const finding of all) {
    const reply = await user.dashboard.get(`/findings/${finding.id}`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual(finding);
  }
});

const bySeverity = (one: Row, another: Row) =>
  severities.indexOf(one.severity) - severities.indexOf(another.severity);
const byOpen = (one: Row, another: Row) => another.open - one.open;
const byBreachDate = (one: Row, another: Row) => another.breachDate.localeCompare(one.breachDate);
const byNewest = (one: Row, another: Row) =>
  (another.lastDetectedAt ?? "").localeCompare(one.lastDetectedAt ?? "") || another.id - one.id;

describe("GET /breaches", () => {
  test("200: all with findings or unwatched addresses, worst first", async () => {
    expect(expected.length).toBeGreaterThan(5);
    const ordered = expected.toSorted(
      (one, another) => bySeverity(one, another) || byBreachDate(one, another) || byOpen(one, another),
    );
    expect(await list()).toEqual({ breaches: ordered, total: expected.length });
    expect(await list("?order=severity")).toEqual({ breaches: ordered, total: expected.length });
  });

  test("in the other orders, page by page", async () => {
    const newest = expected.toSorted(byNewest).map(({ id }) => id);
    const mostOpen = expected.toSorted(
      (one, another) => byOpen(one, another) || bySeverity(one, another) || byNewest(one, another),
    );
    for (const [order, ids] of [
      ["newest", newest],
      ["open", mostOpen.map(({ id }) => id)],
    ] as const) {
      const page = await list(`?order=${order}&limit=3&offset=2`);
      expect([order, page.total, page.breaches.map(({ id }) => id)]).toEqual([
        order,
        expected.length,
        ids.slice(2, 5),
      ]);
    }
  });

  test("by state, severity and part of title, name or domain, with totals", async () => {
    const part = expected[0].title.slice(1, 5);
    const has = ({ title, name, domain }: Row, text: string) =>
      [title, name, domain].some((each) => each.toLowerCase().includes(text.toLowerCase()));
    const cases: [string, (breach: Row) => boolean][] = [
      ["state=open", ({ open, unwatched }) => open + unwatched > 0],
      ["state=handled", ({ open, unwatched }) => open + unwatched === 0],
      ["severity=high", ({ severity }) => severity === "high"],
      ["severity=critical,low", ({ severity }) => ["critical", "low"].includes(severity)],
      [`q=${encodeURIComponent(part.toUpperCase())}`, (breach) => has(breach, part)],
      ["q=.example", (breach) => has(breach, ".example")],
      ["q=nothing-has-this", () => false],
      ["q=%25", (breach) => has(breach, "%")],
      ["q=_", (breach) => has(breach, "_")],
      ["q=*", (breach) => has(breach, "*")],
      ["severity=high,high", ({ severity }) => severity === "high"],
      [
        "state=open&severity=high,medium&q=e",
        (breach) =>
          breach.open + breach.unwatched > 0 &&
          ["high", "medium"].includes(breach.severity) &&
          has(breach, "e"),
      ],
    ];
    for (const [query, isMeant] of cases) {
      const matching = expected.filter(isMeant);
      const { breaches, total } = await list(`?${query}`);
      expect([query, total]).toEqual([query, matching.length]);
      expect(breaches.map(({ id }) => id).sort()).toEqual(matching.map(({ id }) => id).sort());
    }
  });

  test("nothing of another organization", async () => {
    expect((await other.dashboard.get("/breaches")).body).toEqual({ breaches: [], total: 0 });
  });
});

describe("GET /breaches/{id}", () => {
  test("200: each breach as listed, with description and advice", async () => {
    for (const breach of expected) {
      const reply = await user.dashboard.get(`/breaches/${breach.id}`);
      expect(reply.body).toEqual(breach);
      expect(reply.body).toMatchObject({ description: expect.any(String), advice: expect.any(Array) });
    }
  });

  test("404 where no finding here is of it", async () => {
    const refusal = await other.dashboard.get(`/breaches/${expected[0].id}`);
    expectRefusal(refusal, 404, /no finding/);
    expectRefusal(await user.dashboard.get(`/breaches/${unknownId}`), 404, /no finding/);
  });
});
