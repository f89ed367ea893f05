/** What clients send, whatever it is, is understood or refused with a reason (filters, paths, users, PATCH). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFilter } from "../../shared/people/scim/filter.ts";
import { readPath, schemas } from "../../shared/people/scim/names.ts";
import { patched, readOperations } from "../../shared/people/scim/patch.ts";
import { Problem } from "../../shared/people/scim/problem.ts";
import { attributesOf, readUser } from "../../shared/people/scim/user.ts";

/** The result, or the problem by which it is refused. Anything else that is thrown would be answered by 500. */
const orProblem = <T>(read: () => T): T | Problem => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

const names = [
  "userName active name name.givenName emails emails.value manager title id meta groups schemas members",
  'emails[type eq "work"].value emails[type emails[].value emails[value ew "x"] name. .name __proto__ constructor',
  `${schemas.enterprise} ${schemas.enterprise}:department ${schemas.enterprise}:manager.value ${schemas.service}`,
  `${schemas.service}:privileged urn:x:y:z ${schemas.user}:title ${schemas.user} $ref toString`,
].flatMap((line) => line.split(/ (?=[\w.$])(?!eq |ew )/));

const name = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, fc.string());
const value = fc.oneof(
  fc.constantFrom(null, "", "True", true, "work", "ada@demo.example", "2026-11-03T08:15:00Z", [], {}),
  fc.string(),
  fc.dictionary(name, fc.oneof(fc.string(), fc.boolean(), fc.constant(null))),
  fc.array(fc.dictionary(fc.constantFrom("value", "type", "primary", "$ref"), fc.string())),
  fc.jsonValue(),
);
const operation = fc.record(
  { op: fc.constantFrom("add", "Replace", "REMOVE", "move"), path: name, value },
  { requiredKeys: ["op"] },
);

describe("filters", () => {
  const text = fc.string({ unit: "grapheme" }).filter((each) => !/\p{Cc}/u.test(each));

  test("read any text that is written as JSON", () => {
    fc.assert(
      fc.property(text, (given) => {
        const read = readFilter("User", `userName eq ${JSON.stringify(given)} and active eq true`);
        expect(read).toEqual([
          { attribute: "userName", op: "eq", value: given },
          { attribute: "active", op: "eq", value: true },
        ]);
      }),
    );
  });

  test("read words without quotes, and backslashes that nobody escaped", () => {
    const read = (filter: string) => readFilter("User", filter)[0]?.value;
    expect(read("externalId eq jyoung")).toBe("jyoung");
    expect(read("externalId eq 007")).toBe("007");
    expect(read("externalId eq 7f4bc1a3-285e-48ae-8202-5accb43efb0e")).toMatch(/^7f4bc1a3/);
    for (const written of ["ACME\\ada", "ACME\\bob", "ACME\\tom"])
      expect(read(`userName eq "${written}"`)).toBe(written);
    expect(read(String.raw`userName eq "ACME\\bob"`)).toBe("ACME\\bob");
    expect(read(String.raw`userName eq "\u00e4"`)).toBe("ä");
    expect(read("active eq True")).toBe(true);
  });

  test("are understood or refused as invalidFilter, whatever they are", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "userName",
        "eq",
        "and",
        "or",
        "not",
        "(",
        ")",
        "[",
        "]",
        '"',
        "\\",
        "true",
        "emails.work",
      ),
      fc.constantFrom(
        'emails[type eq "work"].value',
        "urn:",
        "null",
        "1",
        "sw",
        " ",
        `${schemas.user}:userName`,
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part), fc.constantFrom("User" as const, "Group" as const), (parts, kind) => {
        const read = orProblem(() => readFilter(kind, parts.join(" ")));
        if (read instanceof Problem) expect(read.scimType).toBe("invalidFilter");
        else for (const { value } of read) expect(["string", "boolean"]).toContain(typeof value);
      }),
      { numRuns: 500 },
    );
  });
});

describe("users and PATCH", () => {
  const ada = readUser({
    userName: "ada",
    emails: [{ type: "work", value: "ada@demo.example" }],
    [schemas.enterprise]: { department: "Engines", manager: "charles" },
  });

  test("a user that is read is the same when it is shown and read again", () => {
    const body = fc.dictionary(name, value).map((fields) => ({ ...fields, userName: "ada" }));
    fc.assert(
      fc.property(body, (given) => {
        const user = orProblem(() => readUser(given));
        if (user instanceof Problem) expect(user.scimType).toBe("invalidValue");
        else expect(readUser(attributesOf(user))).toEqual(user);
      }),
      { numRuns: 500 },
    );
  });

  test("operations give a user or a problem, and change nothing in place", () => {
    const before = structuredClone(ada);
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 4 }), (operations) => {
        const user = orProblem(() =>
          readUser(patched(attributesOf(ada), readOperations({ Operations: operations }))),
        );
        expect(ada).toEqual(before);
        if (user instanceof Problem) expect(user.status).toBe(400);
        else expect(readUser(attributesOf(user))).toEqual(user);
      }),
      { numRuns: 2_000 },
    );
    expect(({} as Record<string, unknown>).value).toBeUndefined();
  });

  test("an operation that is done twice does what it does once", () => {
    fc.assert(
      fc.property(operation, (each) => {
        const once = orProblem(() =>
          readUser(patched(attributesOf(ada), readOperations({ Operations: [each] }))),
        );
        if (once instanceof Problem) return;
        const again = orProblem(() =>
          readUser(patched(attributesOf(once), readOperations({ Operations: [each] }))),
        );
        expect(again).toEqual(once);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    [{ op: "replace", path: 'emails[type eq "WORK"].value', value: "b@x.y" }, "b@x.y work, h@x.y home"],
    [
      { op: "add", path: 'emails[type eq "other"].value', value: "o@x.y" },
      "a@x.y work, h@x.y home, o@x.y other",
    ],
    [{ op: "add", path: 'emails[type eq "other"].value', value: "" }, "a@x.y work, h@x.y home"],
    [{ op: "replace", path: 'emails[type eq "work"].value', value: null }, "h@x.y home"],
    [{ op: "remove", path: 'emails[type eq "work"].value' }, "h@x.y home"],
    [{ op: "remove", path: 'emails[type eq "fax"].value' }, "a@x.y work, h@x.y home"],
    [{ op: "remove", path: 'emails[value eq "A@x.y"]' }, "h@x.y home"],
    [{ op: "remove", path: "emails", value: [{ value: "A@X.y" }] }, "h@x.y home"],
    [{ op: "remove", path: "emails" }, ""],
    [{ op: "replace", path: 'emails[primary eq "True"].value', value: "p@x.y" }, "p@x.y work, h@x.y home"],
    [
      { op: "replace", path: 'emails[type eq "work" and primary eq true].value', value: "p@x.y" },
      "p@x.y work, h@x.y home",
    ],
    [
      { op: "replace", path: 'emails[type eq "home"]', value: [{ value: "n@x.y" }] },
      "a@x.y work, n@x.y home",
    ],
    [{ op: "replace", path: "emails", value: ["n@x.y"] }, "n@x.y "],
    [{ op: "add", path: "emails", value: { value: "A@x.y", type: "work" } }, "A@x.y work, h@x.y home"],
    [{ op: "replace", value: { 'emails[type eq "work"].value': "n@x.y" } }, "n@x.y work, h@x.y home"],
  ])("%j makes addresses %s", (each, expected) => {
    const before = readUser({
      userName: "ada",
      emails: [
        { type: "work", value: "a@x.y", primary: true },
        { type: "home", value: "h@x.y" },
      ],
    });
    const { emails = [] } = readUser(patched(attributesOf(before), readOperations({ Operations: [each] })));
    expect(emails.map(({ value, type = "" }) => `${value} ${type}`).join(", ")).toBe(expected);
  });

  test("paths are read or refused, whatever they are", () => {
    fc.assert(
      fc.property(name, (path) => {
        expect(["object", "undefined"]).toContain(typeof readPath(path));
      }),
    );
  });
});
