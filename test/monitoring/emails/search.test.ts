import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { fold, isQuery } from "../../../shared/contract/search-text.ts";
import * as removals from "../../../shared/findings/email-removal.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { assign } from "../../../shared/monitoring/emails/changes.ts";
import * as emails from "../../../shared/monitoring/emails/email.ts";
import { type EmailQuery, find } from "../../../shared/monitoring/emails/email-list.ts";
import { importAll } from "../../../shared/monitoring/imports/commit.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import * as workers from "../../scanning/in-process-workers.ts";

workers.useWorkers();

const createOrganization = async (...names: string[]) => {
  const org = await workers.createOrganization(Object.fromEntries(names.map((name) => [name, 0])));
  return { org, domains: await domains.list(org) };
};
const everything = { limit: 100, offset: 0 };

describe("how texts are compared", () => {
  test.each([
    ["ZOË", "zoe"],
    ["Straße", "strasse"],
    ["STRASSE", "strasse"],
    ["Łukasz", "lukasz"],
    ["Søren", "soren"],
    ["Işıl İnce", "isil ince"],
    ["Ｆｕｌｌ", "full"],
    ["ΟΔΥΣΣΕΥΣ", "οδυσσευσ"],
    ["ﬁne", "fine"],
    ["Ñandú", "nandu"],
    ["Æsa", "aesa"],
  ])("%s as %s", (text, folded) => expect(fold(text)).toBe(folded));

  test.each(["é", "a", "@a", " a ", "\u0301\u0301\u0301", ""])("%j is too short to search for", (text) =>
    expect(isQuery(text)).toBe(false),
  );

  test.each(["王小", "%%", "__", "@ac", "éé"])("%j is long enough", (text) =>
    expect(isQuery(text)).toBe(true),
  );
});

describe("an address is found", () => {
  const named = async (ownerName: string) => {
    const { org, domains } = await createOrganization("acme.example", "xn--mnchen-3ya.example");
    const domainId = domains[0]?.id ?? 0;
    const id = await emails.add(org, { email: "a.l@acme.example", domainId, ownerName }, administrator);
    const total = async (text: string) => (await find(org, text, everything)).total;
    return { org, id, total, domainId };
  };

  test.each([
    ["Ada Lovelace", ["ada", "LOVE", "ada love", "love ad", "lovelace ada"], ["da", "ada x", "adas"]],
    ["Anne-Marie O’Neill", ["anne", "marie", "neill", "anne marie", "o neill"], ["oneill"]],
    ["محمد علي", ["محمد", "عل"], ["حمد"]],
    ["王小明", ["王小", "王小明"], ["小明"]],
    ["王 明", ["王 明", "王明"], ["明 王"]],
    ["Ольга Петрова", ["ольга", "ПЕТР"], ["льга"]],
    ["김민준", ["김민"], ["민준"]],
    ["J. R. R. Tolkien", ["tolk", "j tolkien", "tolkien r"], ["x tolkien"]],
    ["x", ["a.l@", "acme", "@acme", "a.l@acme.example"], ["xx", "l@acme", "cme", "%%", "a_", "a*"]],
  ])("whose owner is %s", async (ownerName, found, not) => {
    const { total } = await named(ownerName);
    for (const text of found) expect([text, await total(text)]).toEqual([text, 1]);
    for (const text of not) expect([text, await total(text)]).toEqual([text, 0]);
  });

  test("by the Unicode form of its domain, with and without accents", async () => {
    const { org, domains } = await createOrganization("xn--mnchen-3ya.example");
    const domainId = domains[0]?.id ?? 0;
    await emails.add(org, { email: "ada@xn--mnchen-3ya.example", domainId }, administrator);
    const dots = ["münchen\u3002ex", "@münchen\uff61ex", "ada@münchen\uff0eex"];
    for (const text of ["münch", "MUNCHEN", "@münchen.ex", "xn--m", "ada@xn--", "Ada@MÜNCHEN.ex", ...dots])
      expect([text, (await find(org, text, everything)).total]).toEqual([text, 1]);
  });

  test("of two that rename it at once, by the name that it has", async () => {
    const { org, id, total } = await named("Ada King");
    const names = ["Grace Hopper", "Alan Turing", "Edsger Dijkstra"];
    await Promise.all(names.map((ownerName) => assign(org, id, { ownerName }, administrator)));
    const totals = await Promise.all(["king", "hopper", "turing", "dijkstra"].map(total));
    expect(totals.toSorted()).toEqual([0, 0, 0, 1]);
  });

  test("by an owner's name of a hundred words or of many characters", async () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const hundred = Array.from(
      { length: 66 },
      (_, at) => `${letters[at % 26]}${letters[(at * 7) % 26]}`,
    ).join(" ");
    for (const ownerName of [hundred, "ﷺ".repeat(200), "x".repeat(200), "a ".repeat(100)]) {
      const { org, id, total } = await named("Ada");
      await assign(org, id, { ownerName }, administrator);
      await assign(org, id, { ownerName: `Zoë ${ownerName.slice(0, 190)}` }, administrator);
      expect([await total("zoe"), await total("ada")]).toEqual([1, 0]);
      await removals.remove(org, id, administrator);
      expect(await total("zoe")).toBe(0);
    }
  });

  test("that was imported with its owner's name", async () => {
    const { org, total, domainId } = await named("Ada");
    const rows = Array.from({ length: 60 }, (_, at) => ({
      email: `u${at}@acme.example`,
      domainId,
      ownerName: `Person Number${at}`,
    }));
    await importAll(org, rows, administrator);
    expect([await total("person"), await total("number1"), await total("number59")]).toEqual([60, 11, 1]);
  });
});

test("any page of any search equals that of a naive search, after any history", async () => {
  const names = ["Ada Lovelace", "Adam Ant", "Anna-Maria Adler", "Łada", null];
  const locals = ["ada", "adam", "anna", "b.ada", "ad"];
  const move = fc.record({
    local: fc.constantFrom(...locals),
    number: fc.integer({ min: 0, max: 3 }),
    domain: fc.integer({ min: 0, max: 2 }),
    name: fc.constantFrom(...names),
    inTeam: fc.boolean(),
    isActive: fc.boolean(),
    isRemoval: fc.boolean(),
  });
  const query = fc.record({
    text: fc.constantFrom(
      "ad",
      "ada",
      "anna",
      "adler",
      "ad.example",
      "ada lov",
      "b.",
      "lad",
      "an",
      "@ad",
      "zz",
    ),
    limit: fc.integer({ min: 1, max: 10 }),
    offset: fc.integer({ min: 0, max: 10 }),
    domain: fc.option(fc.integer({ min: 0, max: 2 })),
    inTeam: fc.boolean(),
    isActive: fc.option(fc.boolean()),
  });
  const histories = fc.tuple(
    fc.array(move, { minLength: 1, maxLength: 15 }),
    fc.array(query, { minLength: 12, maxLength: 12 }),
  );
  const run = async ([moves, queries]: typeof histories extends fc.Arbitrary<infer T> ? T : never) => {
    const { org, domains } = await createOrganization("ad.example", "adams.example", "other.example");
    const team = await teams.create(org, "Team", administrator);
    type Model = {
      email: string;
      domainId: number;
      name: string | null;
      teamId: number | null;
      isActive: boolean;
    };
    const model = new Map<number, Model>();
    for (const { local, number, domain, name, inTeam, isActive, isRemoval } of moves) {
      const { id: domainId = 0, name: domainName } = domains[domain] ?? {};
      const email = `${local}${number}@${domainName}`;
      const teamId = inTeam ? team.id : null;
      const [known] = [...model].find(([, each]) => each.email === email) ?? [];
      if (known !== undefined && isRemoval) {
        await removals.remove(org, known, administrator);
        model.delete(known);
        continue;
      }
      const input = { email, domainId, ...(name && { ownerName: name }), ...(inTeam && { teamId: team.id }) };
      const id = known ?? (await emails.add(org, input, administrator));
      if (known !== undefined) await assign(org, id, { ownerName: name, teamId }, administrator);
      await emails.setActive(org, id, isActive, administrator);
      model.set(id, { email, domainId, name, teamId, isActive });
    }
    const isFound = ({ email, name }: Model, text: string): boolean => {
      const words = (of: string) =>
        fold(of)
          .split(/[^a-z0-9]+/)
          .filter((word) => word !== "");
      const wanted = text.startsWith("@") ? text.slice(1) : text;
      return (
        email.startsWith(text) ||
        (email.split("@")[1] ?? "").startsWith(wanted) ||
        words(text).every((word) => words(name ?? "").some((each) => each.startsWith(word)))
      );
    };
    for (const { text, limit, offset, domain, inTeam, isActive } of queries) {
      const filter: EmailQuery = {
        limit,
        offset,
        ...(domain !== null && { domainId: domains[domain]?.id }),
        ...(inTeam && { teamId: team.id }),
        ...(isActive !== null && { isActive }),
      };
      const naive = [...model]
        .filter(([, each]) => isFound(each, text))
        .filter(([, each]) => filter.domainId === undefined || each.domainId === filter.domainId)
        .filter(([, each]) => filter.teamId === undefined || each.teamId === filter.teamId)
        .filter(([, each]) => filter.isActive === undefined || each.isActive === filter.isActive)
        .sort(([one], [other]) => other - one);
      const page = await find(org, text, filter);
      expect({ text, filter, total: page.total, ids: page.emails.map(({ id }) => id) }).toEqual({
        text,
        filter,
        total: naive.length,
        ids: naive.slice(offset, offset + limit).map(([id]) => id),
      });
    }
  };
  await fc.assert(fc.asyncProperty(histories, run), { numRuns: 6 });
}, 120_000);
