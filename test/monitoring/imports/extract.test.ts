import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Refusal } from "../../../shared/contract/errors.ts";
import { unseen } from "../../../shared/contract/text.ts";
import { emailAddress } from "../../../shared/monitoring/emails/email-schema.ts";
import { type Candidate, extract as read } from "../../../shared/monitoring/imports/extract.ts";
import { importedAddress, importRow } from "../../../shared/monitoring/imports/import-schema.ts";
import { isPlaceholder } from "../../../shared/monitoring/imports/placeholder.ts";

const extract = (bytes: Uint8Array): Candidate[] => read(bytes).candidates;

const from = (text: string): Candidate[] => extract(Buffer.from(text));
const emailsOf = (candidates: Candidate[]): string[] => candidates.map(({ email }) => email);

/** The name and the sentence of the refusal. */
const refusalOf = (bytes: Uint8Array | string): [string, string] => {
  try {
    extract(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  } catch (error) {
    if (error instanceof Refusal) return [error.refusal, error.message];
    throw error;
  }
  throw new Error("The file was not refused");
};

describe("teams", () => {
  test.each(["Team", "Team name", "Department", "Group", "Abteilung", "Équipe", "Department [department]"])(
    "are read from a column headed %s, and nowhere else",
    (heading) => {
      expect(from(`Email,${heading},Manager\na@a.example, Sales\u00a0 West ,Bo\nb@a.example,,Bo\n`)).toEqual([
        { email: "a@a.example", team: "Sales West" },
        { email: "b@a.example" },
      ]);
    },
  );

  test("come from a column of teams, else departments, else groups", () => {
    expect(from("Group,Department,Team,Email\nG,D,T,a@a.example\n")).toMatchObject([{ team: "T" }]);
    expect(from("Group,Department,Email\nG,D,a@a.example\n")).toMatchObject([{ team: "D" }]);
  });

  test("stand beside addresses of a column that is not headed like an address", () => {
    expect(from("Team,Contact\nSales,a@a.example\nb@a.example,c@a.example\n")).toEqual([
      { email: "a@a.example", team: "Sales" },
      { email: "b@a.example" },
      { email: "c@a.example" },
    ]);
  });

  test("are not read from columns that only mention a team, nor from shifted rows", () => {
    expect(from("Email,Team lead,Group type\na@a.example,Bo,open\n")).toEqual([{ email: "a@a.example" }]);
    expect(from("Name,Email,Team\nKahn, Bob,b@a.example,Sales\nAda,a@a.example,IT\n")).toEqual([
      { email: "b@a.example" },
      { email: "a@a.example", ownerName: "Ada", team: "IT" },
    ]);
  });

  test("have names of at most 100 characters; the refusal names a longer one", () => {
    const file = (name: string) => `Email,Team\na@a.example,${name}\n`;
    expect(from(file("é".repeat(100)))).toMatchObject([{ team: "é".repeat(100) }]);
    expect(refusalOf(file("é".repeat(101)))).toEqual([
      "invalidInput",
      `file: the team "${"é".repeat(39)}…" must have at most 100 characters`,
    ]);
  });
});

describe('an "email" column', () => {
  test.each([
    "email",
    "E-Mail",
    "EMAIL ADDRESS",
    "e_mail",
    "Mail",
    "Work Email",
    "Email (work)",
    "Email address *",
    "E-mail 1 - Value",
    "Adresse e-mail",
    "Courriel",
    "Correo electrónico",
    "Indirizzo email",
    "E-mailadres",
    "E-postadress",
    "userPrincipalName",
  ])("%s", (heading) => {
    for (const delimiter of [",", ";", "\t"]) {
      const file = `note${delimiter}"${heading}"\nx@y.example${delimiter}ada@demo.example\n`;
      expect([delimiter, emailsOf(from(file))]).toEqual([delimiter, ["ada@demo.example"]]);
    }
  });

  test("that is empty does not make people of a column of managers", () => {
    expect(emailsOf(from("name,email,manager email,note\nAda,,boss@a.example,ada@a.example\n"))).toEqual([
      "ada@a.example",
    ]);
  });

  test.each(["Mailing address", "Personal email", "Email status", "Manager email", "Notes"])(
    "is not one that is headed %s",
    (heading) => {
      expect(emailsOf(from(`${heading},x\nx@y.example,ada@demo.example`))).toEqual([
        "x@y.example",
        "ada@demo.example",
      ]);
    },
  );

  test("does not win without an address in it: every cell is searched", () => {
    expect(emailsOf(from("Email,Contact\nn/a,ada@demo.example\n"))).toEqual(["ada@demo.example"]);
  });

  test("may hold several addresses in a cell, or one in angle brackets", () => {
    expect(from('email,name\n"ada@a.example; ADA@b.example",Ada\nAlan <alan@a.example>,Alan')).toEqual([
      { email: "ada@a.example", ownerName: "Ada" },
      { email: "ada@b.example", ownerName: "Ada" },
      { email: "alan@a.example", ownerName: "Alan" },
    ]);
  });

  test.each([
    ["jane doe@a.example", ["jane doe@a.example"]],
    ["Jane  Doe\tjane@a.example (work)", ["Jane Doe jane@a.example (work)"]],
    ["jane .doe@a.example", ["jane .doe@a.example"]],
    ["jane @a.example", ["jane @a.example"]],
    [
      "ada@a.example; jane doe@a.example, bob@a.example",
      ["ada@a.example", "jane doe@a.example", "bob@a.example"],
    ],
  ])("makes a bare address behind a word malformed: %j", (cell, expected) => {
    expect(emailsOf(from(`email\nx@y.example\n"${cell}"`)).slice(1)).toEqual(expected);
  });

  test.each([
    "Jane Doe <jane@a.example>, Ann Lee<ann@a.example>",
    "Jane Doe (jane@a.example); Ann Lee [mailto:ann@a.example]",
    "Jane ‘jane@a.example’ Ann »ann@a.example«",
    "jane@a.example ::: ann@a.example",
    "1. jane@a.example\n- ann@a.example",
    "jane@a.example (Jane Doe)\nann@a.example work",
    "Doe, jane@a.example\nLee\nann@a.example",
    "<a href=''mailto:jane@a.example''>jane</a> <ann@a.example>",
  ])("gives addresses whose beginning is unmistakable: %j", (cell) => {
    expect(emailsOf(from(`email\nx@y.example\n"${cell}"`)).slice(1)).toEqual([
      "jane@a.example",
      "ann@a.example",
    ]);
  });

  test("cuts owners' names to 200 characters and collapses white space", () => {
    const ownerOf = (name: string) => from(`email,name\nada@a.example,"${name}"`)[0]?.ownerName;
    for (const letter of ["a", "😀"]) {
      expect(ownerOf(letter.repeat(200))).toBe(letter.repeat(200));
      expect(ownerOf(letter.repeat(201))).toBe(`${letter.repeat(199)}…`);
      expect(ownerOf(`x${letter.repeat(300)}`)).toBe(`x${letter.repeat(198)}…`);
    }
    expect(from('email,name\nada@a.example," A\n\t  B\u0085"')).toEqual([
      { email: "ada@a.example", ownerName: "A B" },
    ]);
  });
});

describe('without an "email" column', () => {
  test("a name heading gives each address of a row its owner", () => {
    for (const delimiter of [",", ";", "\t"]) {
      const rows = [
        ["Owner Name", "Contact", "Second contact"],
        ["Ann A", "ann@a.example", ""],
        ["Bob B", "bob@a.example bob@b.example", "Bob <bob@c.example>"],
        ["", "nobody@a.example", ""],
      ];
      expect(from(rows.map((cells) => cells.join(delimiter)).join("\n"))).toEqual([
        { email: "ann@a.example", ownerName: "Ann A" },
        { email: "bob@a.example", ownerName: "Bob B" },
        { email: "bob@b.example", ownerName: "Bob B" },
        { email: "bob@c.example", ownerName: "Bob B" },
        { email: "nobody@a.example" },
      ]);
    }
  });

  test("first and last names give each address its owner", () => {
    const owned = [{ email: "ada@a.example", ownerName: "Ada Lovelace" }];
    expect(from("First name,Last name,Contact\nAda,Lovelace,ada@a.example\n")).toEqual(owned);
    expect(from("Name,Personal email\nAda Lovelace,ada@a.example\n")).toEqual(owned);
    expect(from("Staff;;\nName;Email;Contact\nAda Lovelace;;ada@a.example\n")).toEqual(owned);
  });

  test("a word in front of an address is taken for a name", () => {
    expect(emailsOf(from("Jane Doe jane@a.example\nAnn ann@a.example"))).toEqual([
      "jane@a.example",
      "ann@a.example",
    ]);
  });

  test.each([
    ["no heading", "Ann A,ann@a.example\n"],
    ["a heading of something else", "Note,Contact\nAnn A,ann@a.example\n"],
    ["an address beside the heading", "Name,x@a.example\nAnn A,ann@a.example\n"],
    ["a heading that is not in the first row", "People\nName,Contact\nAnn A,ann@a.example\n"],
    ["a heading of the addresses themselves", "Name\nAnn A ann@a.example\n"],
  ])("there is no owner with %s", (_, text) => {
    expect(from(text).filter((each) => "ownerName" in each)).toEqual([]);
  });
});

describe("a malformed address", () => {
  /**
   * What is extracted from the cell in a column headed like "email", and in a column with another heading.
   */
  const inBoth = (cell: string): string[][] => {
    const quoted = `"${cell.replaceAll('"', '""')}"`;
    return [emailsOf(from(`email\nx@y.example\n${quoted}`)), emailsOf(from(`x@y.example\n${quoted}`))].map(
      ([, ...found]) => found,
    );
  };

  test.each([
    ...'‘’“”„«»‹›"<>()[]（」\u200b\u200d\u2060\u00ad\u202a'
      .split("")
      .flatMap((mark) => [`o${mark}neil@demo.example`, `jane@demo${mark}.example`]),
    "ja[n]e@demo.example",
    "ja<n>e@demo.example",
    "ja(n)e@demo.example",
    'ja"n"e@demo.example',
    'jane"@demo.example',
    "jane@demo.example[.evil.example]",
    "ja<ne@demo.example",
    "Jane(jane@demo.example)",
    "a@demo.example>jane@demo.example",
  ])("%j is shown as it is", (text) => {
    for (const found of inBoth(text)) expect(found).toEqual([text]);
    for (const found of inBoth(`„${text}‹`)) expect(found).toEqual([`„${text}‹`]);
    expect(emailAddress.safeParse(text).success).toBe(false);
  });

  test("with a no-break space is not split, and shown with a space", () => {
    for (const space of ["\u00a0", "\u2007", "\u202f", "\ufeff"]) {
      expect(inBoth(`x${space}1@demo.example`)).toEqual([["x 1@demo.example"], ["x 1@demo.example"]]);
    }
  });

  test.each([
    ..."‘’ “” „“ «» »« ‹› \"\" '' <> () [] {} （） \u200b\u200b \u00a0\u00a0 \ufeff\u2060 \u202a\u202c"
      .split(" ")
      .map(([open, close]) => `${open}jane@demo.example${close}`),
    "\u00a0'“<jane@demo.example>”'.\u200b",
    "Jane<jane@demo.example>",
    '"Jane"<jane@demo.example>;',
    "Jane Doe [mailto:jane@demo.example]",
    "o'neil@demo.example",
  ])("what is written around an address is removed: %j", (text) => {
    const expected = text.includes("neil") ? "o'neil@demo.example" : "jane@demo.example";
    expect(inBoth(text)).toEqual([[expected], [expected]]);
  });

  test("with a dot in front is invalid, and keeps its dot", () => {
    for (const text of [".jane@demo.example", "...jane@demo.example"]) {
      for (const written of [text, `"${text}"`, `<${text}>`, `mailto:${text}`]) {
        expect(inBoth(written)).toEqual([[written], [written]]);
      }
      expect(importedAddress.safeParse(text).success).toBe(false);
    }
  });

  test("a pipe separates addresses", () => {
    for (const text of ["Ann|jane@demo.example", "Ann Lee | jane@demo.example", "jane@demo.example|Ann"]) {
      expect(inBoth(text)).toEqual([["jane@demo.example"], ["jane@demo.example"]]);
    }
    expect(emailsOf(from("Name|Email\nAnn Lee|ann@demo.example\nBob|bob@demo.example|x"))).toEqual([
      "ann@demo.example",
      "bob@demo.example",
    ]);
  });

  test("an equals sign is neither a separator nor part of an address", () => {
    for (const text of ["Email=X1@demo.example", "bounce+ada=other.example@demo.example"]) {
      expect(inBoth(text)).toEqual([[text], [text]]);
      expect(importedAddress.safeParse(text).success).toBe(false);
    }
  });

  test("between angle brackets counts, with or without a space", () => {
    expect(inBoth("jane@a.example<mailto:jane@b.example><jane@c.example>, Jane <jane@d.example>")).toEqual(
      Array(2).fill(["jane@a.example", "jane@b.example", "jane@c.example", "jane@d.example"]),
    );
  });
});

describe("refused files", () => {
  test.each([
    ["nothing", ""],
    ["white space", " \r\n\t\n "],
    ["a BOM alone", "\ufeff"],
  ])("%s: is empty", (_, text) => {
    expect(refusalOf(text)).toEqual(["invalidInput", "file: is empty"]);
  });

  test.each(["email,name\n", "email\nnone\n", "hello", ",,,\n;;;\n"])(
    "%j: holds nothing like an address",
    (text) => {
      expect(refusalOf(text)).toEqual(["invalidInput", "file: holds no e-mail addresses"]);
    },
  );

  test("zip files, images, other binaries and broken UTF-16", () => {
    const zip = Buffer.concat([
      Buffer.from("PK\x03\x04\x14\0\0\0\b\0"),
      deflateRawSync("email\na@b.example"),
    ]);
    const workbook = "file: is not a text file, but a workbook: save it as CSV UTF-8";
    expect(refusalOf(zip)[1]).toBe(workbook);
    expect(refusalOf(Buffer.from("d0cf11e0a1b11ae1", "hex"))[1]).toBe(workbook);
    const image = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01", "latin1");
    expect(refusalOf(image)[1]).toMatch(/^file: is not /);
    expect(refusalOf("a@b.example\0")[1]).toBe("file: is not a text file");
    expect(refusalOf(Buffer.from("a@b.example", "utf16le"))[1]).toBe("file: is not a text file");
    expect(refusalOf(Buffer.from("\ufeffa@b.example\ud800", "utf16le"))[1]).toBe("file: is not a text file");
    expect(refusalOf(Buffer.from("\ufeffa@b.example", "utf16le").subarray(0, -1))[1]).toBe(
      "file: is not a text file",
    );
  });

  test("vCards, which name more than addresses", () => {
    const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nEMAIL;TYPE=WORK:ada@a.example\r\nEND:VCARD\r\n";
    for (const text of [card, `\ufeff\r\n${card.toLowerCase()}`]) {
      expect(refusalOf(text)).toEqual(["invalidInput", "file: holds vCards: export the contacts as CSV"]);
    }
  });

  test("more than 500 entries, counting malformed ones and repeats", () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => `a${index % 300}@b.example`);
    expect(from(list(500).join("\n"))).toHaveLength(500);
    expect(refusalOf(list(501).join("\n"))).toEqual([
      "tooManyAddresses",
      "file: holds more than 500 addresses: split it",
    ]);
    expect(refusalOf(list(501).join(" "))[0]).toBe("tooManyAddresses");
    expect(refusalOf(`email\n${list(501).join("\n")}`)[0]).toBe("tooManyAddresses");
    // Malformed entries count too: each is a row of the plan, which a commit sends back.
    expect(from(["email", ...list(499), "noat"].join("\n"))).toHaveLength(500);
    expect(refusalOf(["email", ...list(500), "noat"].join("\n"))[0]).toBe("tooManyAddresses");
  });
});

describe("open quotes", () => {
  test.each([
    ["in front of a name", 'Name\tEmail\n"Mac” M\tmac@a.example\nAda\tada@a.example\nEve\teve@a.example'],
    [
      "in front of a name, with a quoted name below",
      'Name,Email\n"Mac M,mac@a.example\n"A, Ada",ada@a.example\nEve,eve@a.example',
    ],
    [
      "as the sign of inches",
      'Name\tSize\tEmail\nMac\t"24\tmac@a.example\nAda\t24"\tada@a.example\nE\t\teve@a.example',
    ],
    ["in the last line", 'Name,Email\nMac,mac@a.example\nAda,ada@a.example\n"Eve,eve@a.example\n'],
    ["in a list without a header", 'mac@a.example,"Mac\nada@a.example,Ada\neve@a.example,E'],
  ])("%s lose no address", (_, text) => {
    expect(emailsOf(from(text))).toEqual(["mac@a.example", "ada@a.example", "eve@a.example"]);
  });

  test("in any cells, beside proper quotes, lose no address", () => {
    const cell = fc.constantFrom(
      "Ops",
      '"Kahn, Bob"',
      '"O""Neil"',
      '24"',
      '"Mac',
      'A"da',
      '"',
      'B "Bo" K',
      '="1"',
      '="2',
      '"B "Bo" K"',
    );
    const table = fc.tuple(
      fc.constantFrom(",", ";", "\t"),
      fc.array(fc.tuple(cell, cell), { minLength: 2, maxLength: 8 }),
    );
    fc.assert(
      fc.property(table, ([delimiter, rows]) => {
        const addresses = rows.map((_, row) => `p${row}@a.example`);
        const lines = rows.map(([name, team], row) => [name, addresses[row], team].join(delimiter));
        const read = emailsOf(from([["name", "email", "team"].join(delimiter), ...lines].join("\n")));
        expect(read).toEqual(addresses);
      }),
      { numRuns: 500 },
    );
  });

  test("are not those of a note of several lines, which stays a note", () => {
    const text = 'Email,Note\nada@a.example,"Asks for\nmore, as bob@b.example does\n"\neve@a.example,\n';
    expect(emailsOf(from(text))).toEqual(["ada@a.example", "eve@a.example"]);
  });
});

const address = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9][a-z0-9._+'-]{0,20}[a-z0-9]$/),
    fc.stringMatching(/^[a-z]{1,10}\.example$/),
  )
  .map(([local, domain]) => `${local}@${domain}`)
  .filter((each) => emailAddress.safeParse(each).success);

/** A cell of a spreadsheet that is its own normalized form as an owner's name. */
const name = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .filter((each) => !/[\p{Cc}]/u.test(each) && each.isWellFormed())
  .map((each) => each.replace(/\s+/g, " ").trim())
  // What nobody sees is taken out of names.
  .filter((each) => each.search(unseen) < 0)
  // A mark in front of a formula is no part of the name. A number or a placeholder is no name.
  .filter((each) => !/[\ufeff\ufffd]|^'[-+=@]|^\d*$/.test(each) && !isPlaceholder(each))
  // Such pairs are read as UTF-8 that became Windows-1252 on its way: "Â¡" as "¡".
  .filter((each) => !/[\u00c2-\u00f4][^\0-\x7f\u00c0-\u00ff]/.test(each));

const encodings: Record<string, (text: string) => Buffer> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with BOM": (text) => Buffer.from(`\ufeff${text}`),
  "UTF-16 little endian": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "UTF-16 big endian": (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
};

const form = fc.record({
  delimiter: fc.constantFrom(",", ";", "\t"),
  lineEnd: fc.constantFrom("\r\n", "\n", "\r"),
  quoting: fc.constantFrom("always", "when needed"),
  encoding: fc.constantFrom(...Object.keys(encodings)),
  atEnd: fc.boolean(),
});

const write = (
  records: readonly string[][],
  given: typeof form extends fc.Arbitrary<infer F> ? F : never,
) => {
  const cell = (text: string) =>
    given.quoting === "always" || /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = records.map((cells) => cells.map(cell).join(given.delimiter));
  const text = lines.join(given.lineEnd) + (given.atEnd ? given.lineEnd : "");
  return encodings[given.encoding]?.(text) as Buffer;
};

describe("any format", () => {
  test("a table of addresses and names comes back the same", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(address, name), { minLength: 1, maxLength: 40 }), form, (rows, given) => {
        const file = write([["Name", "E-Mail"], ...rows.map(([email, owner]) => [owner, email])], given);
        expect(extract(file)).toEqual(rows.map(([email, ownerName]) => ({ email, ownerName })));
      }),
      { numRuns: 300 },
    );
  });

  test("a name with quotes at its ends comes back the same", () => {
    for (const owner of ['"""a"', '"Ada" or "Al"', '"a"b"', 'a""']) {
      const cell = `"${owner.replaceAll('"', '""')}"`;
      expect(extract(Buffer.from(`Name,E-Mail\n${cell},ada@a.example`))).toEqual([
        { email: "ada@a.example", ownerName: owner },
      ]);
    }
  });
});

test("any bytes are refused or give entries that can be rows of a plan", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
    fc.string({ unit: "binary", maxLength: 200 }).map((each) => Buffer.from(`email\n${each}@${each}`)),
    fc
      .array(
        fc.constantFrom(
          "@",
          '"',
          ",",
          "email",
          "\n",
          "\r",
          ";",
          "a",
          ".",
          "\u0085",
          "\u2028",
          "'",
          "?",
          "|",
          "=",
          "\ufeff",
        ),
      )
      .map((parts) => Buffer.from(parts.join(""))),
  );
  fc.assert(
    fc.property(bytes, (file) => {
      let found: Candidate[];
      try {
        found = extract(file);
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
        return;
      }
      for (const each of found) {
        expect(importRow.safeParse({ ...each, domainId: null, status: "invalid" }).error).toBeUndefined();
        // A commit parses the rows of its plan again, which must give the same addresses.
        expect(importedAddress.safeParse(each.email).data ?? each.email).toBe(each.email);
      }
    }),
    { numRuns: 200, examples: [[Buffer.from("}@A")]] },
  );
});

describe("columns", () => {
  const columnsOf = (text: string) => read(Buffer.from(text)).columns;

  test("those that are read, and those that are ignored, by their headings", () => {
    expect(
      columnsOf("E-Mail;Vorname;Nachname;Abteilung;Telefon;;Manager email\na@b.example;A;B;C;1;;m@b.example"),
    ).toEqual({
      used: ["E-Mail", "Vorname", "Nachname", "Abteilung"],
      ignored: ["Telefon", "Manager email"],
      withoutAddress: [],
      departed: [],
    });
    expect(columnsOf("Person,Password\na@b.example,secret@1")).toMatchObject({
      used: [],
      ignored: ["Password"],
    });
    expect(columnsOf("a@b.example\nc@d.example")).toMatchObject({ used: [], ignored: [] });
  });

  test("rows without an address are named by owner, or by their first cell", () => {
    const rows = ["Ada,L,ada@b.example,,1", "Bob,Kahn,,boss@b.example,2", ",,,,3", ",,,,", "Eve"];
    const text = ["Vorname,Nachname,E-Mail,Manager email,Nr", ...rows].join("\n");
    expect(columnsOf(text).withoutAddress).toEqual(["Bob Kahn", "3", "Eve"]);
    const many = `email,name\na@b.example,A\n${`,${"x".repeat(300)}\n`.repeat(600)}`;
    expect(columnsOf(many).withoutAddress).toHaveLength(500);
    expect(columnsOf(many).withoutAddress[0]).toHaveLength(100);
  });

  test("many and long headings are cut", () => {
    const headings = Array.from({ length: 300 }, (_, index) => `${"x".repeat(200)}${index}`);
    const { ignored } = columnsOf(`${["email", ...headings].join(",")}\na@b.example`);
    expect(ignored).toHaveLength(100);
    for (const heading of ignored) expect(heading).toHaveLength(100);
  });
});

describe("what spreadsheets write where nothing is", () => {
  // English first, then the other languages of Excel; then LibreOffice and Google Sheets.
  const errors = `#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CONNECT! #BLOCKED! #UNKNOWN!
    #FIELD! #CALC! #BUSY! #NV #WERT! #BEZUG! #ZAHL! #ÜBERLAUF! #VALEUR! #NOM? #NOMBRE! #N/D #¡DIV/0! #¿NOMBRE? #¡REF!
    #RIF! #N/B #DEEL/0! #WAARDE! #N/D! #DZIEL/0! #Н/Д #ДЕЛ/0! #ССЫЛКА! #ИМЯ? #DĚLENÍ_NULOU! #NENÍ_K_DISPOZICI
    #ZÉRÓOSZTÓ! #HIÁNYZIK #NÉV? #PUUTTUU! #SAKNAS! #VÄRDEFEL! #I/T #VÆRDI! #YOK #SAYI/0! #BAŞV! #Δ/Υ #ΔΙΑΙΡ./0!
    #NEDOSTUPNÝ #N/V
    #ERROR! #nv #n/a Err:508 Fehler:502 Loading... N/A (blank) (Leer) (vide) - -- – — . … ? / * ######## " ''`;

  test.each(errors.split(/\s+/))("%s is empty", (cell) => {
    const quoted = `"${cell.replaceAll('"', '""')}"`;
    const file =
      `Name,Email,userPrincipalName,Team\n${quoted},${quoted},ada@a.example,${quoted}\n` +
      "Bob,bob@a.example,,Ops\n";
    expect(from(file)).toEqual([
      { email: "ada@a.example" },
      { email: "bob@a.example", ownerName: "Bob", team: "Ops" },
    ]);
  });

  test.each(["Null", "None", "#ops", "C#", "R&D", "A!", "Team #1", "🚀", "-a", "NA", "王", "#1"])(
    "%s is a name",
    (name) => {
      expect(from(`Email,Team\na@a.example,${name}\n`)).toEqual([{ email: "a@a.example", team: name }]);
    },
  );
});

describe("people who have left", () => {
  const departedOf = (file: string, today = "2026-11-28") =>
    read(Buffer.from(file), { today }).columns.departed.map(({ email, ...says }) => [
      email,
      ...Object.values(says),
    ]);

  test.each([
    ["Status", "Suspended"],
    ["Status [READ ONLY]", "Suspended"],
    ["status", "DEPROVISIONED"],
    ["status", "Deactivated"],
    ["Employment status", "Terminated (voluntary)"],
    ["Lifecycle status", "Left"],
    ["Sign-in status", "Sign-in blocked"],
    ["Mitarbeiterstatus", "Ausgeschieden"],
    ["Status", "inaktiv"],
    ["Statut", "Désactivé"],
    ["Estado", "Inactivo"],
    ["Stato", "Cessato"],
    ["suspended", "True"],
    ["IS_SUSPENDED", "Yes"],
    ["Terminated", "x"],
    ["Terminated", "2026-11-01"],
    ["Block credential", "TRUE"],
    ["accountEnabled", "False"],
    ["Enabled", "FALSE"],
    ["Account enabled [accountEnabled]", "no"],
    ["Active", "0"],
    ["Aktiv", "nein"],
    ["userAccountControl", "514"],
    ["Termination date", "2026-11-27T00:00:00"],
    ["Austrittsdatum", "27.11.2026"],
    ["Last working day", "11/27/2026"],
  ])("are those of a column %s with %s", (heading, value) => {
    expect(departedOf(`Email,${heading}\na@a.example,${value}\nb@a.example,\n`)).toEqual([
      ["a@a.example", heading, value],
    ]);
  });

  test.each([
    ["Status", "Active"],
    ["Status", "Not suspended"],
    ["Status", "On leave"],
    ["MFA status", "Disabled"],
    ["Two-step Login", "Disabled"],
    ["billing-active", "0"],
    ["State", "Baja California"],
    ["suspended", "False"],
    ["accountEnabled", "True"],
    ["Deleted", ""],
    ["userAccountControl", "512"],
    ["Termination date", "2026-11-28"],
    ["Termination date", "02/01/2027"],
    ["Termination date", "01/12/2026"],
    ["Termination date", "unknown"],
    ["Note", "Suspended"],
  ])("are not those of a column %s with %s", (heading, value) => {
    expect(departedOf(`Email,${heading}\na@a.example,${value}\n`)).toEqual([]);
  });

  test("are told of any table, also where all cells are searched", () => {
    expect(departedOf("Name,Contact,Status\nAda,a@a.example,active\nBob,b@a.example,left\n")).toEqual([
      ["b@a.example", "Status", "left"],
    ]);
  });

  test("do not include who came back, whatever the order of rows", () => {
    const rows = ["a@a.example,inactive", "a@a.example,active"];
    for (const some of [rows, rows.toReversed()]) {
      expect(departedOf(["Email,Status", ...some].join("\n"))).toEqual([]);
    }
    expect(departedOf("Email,Status\na@a.example,left\nA@a.example,inactive")).toHaveLength(1);
  });

  test("are rows like others, and their columns are read", () => {
    const { candidates, columns } = read(Buffer.from("Email,Status,Phone\na@a.example,left,1\n"));
    expect([candidates, columns.used, columns.ignored]).toEqual([
      [{ email: "a@a.example" }],
      ["Email", "Status"],
      ["Phone"],
    ]);
  });
});
