/** The files of test/cases/imports/, whose README says where their forms come from. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { extract } from "../../../shared/monitoring/imports/extract.ts";

const folder = join(import.meta.dirname, "../../cases/imports");

/** "address | owner | team" of each entry. */
const read = (file: string): string[] =>
  extract(readFileSync(join(folder, file))).found.map(({ email, ownerName = "", team = "" }) =>
    [email, ownerName, team].join(" | ").replace(/( \| )+$/, ""),
  );

type Cases = Record<string, string[]>;

const ada = "ada@demo.example | Ada Lovelace";
const bob = "bob@demo.example | Bob Kahn";
const research = `${ada} | Research`;

const namesOf = (names: string): string[] => names.split(" ").map((name) => `${name}@demo.example`);

const forms: Cases = {
  "entra-bulk-create.csv": [ada, bob],
  "entra-users-without-mail.csv": [ada, "alan@demo.example | Alan Turing"],
  "entra-users.csv": [
    ada,
    "service@demo.onmicrosoft.example | Print Service",
    "grace@partner.example | Hopper, Grace",
  ],
  "excel-german.csv": [
    "juergen.mueller@demo.example | Jürgen Müller | Einkauf, Lager",
    "anna-lena@demo.example | Anna-Lena Groß | Vertrieb; Süd",
    "zoe@demo.example | Zoë",
  ],
  "excel-unicode-text.txt": ["juergen@demo.example | Jürgen Müller", "sakura@demo.example | 木村 さくら"],
  "formulas.csv": [
    'ada@demo.example | =HYPERLINK("https://evil.example","Ada")',
    "alan@demo.example | +1+cmd|' /C calc'!A0",
    "grace@demo.example | @SUM(1)",
  ],
  "google-workspace-users.csv": [
    "ada.lovelace@demo.example | Ada Lovelace",
    "alan@demo.example | Alan Turing",
    'grace@demo.example | Grace "Amazing" Hopper',
    "robot@demo.example",
  ],
  "list.txt": namesOf("ada alan grace katherine mary"),
  "malformed.csv": [
    "ada@demo.example | Ada",
    "not an address | Bob",
    "ada@ | Carl",
    "@demo.example | Dora",
    "ada@demo..example | Emil",
    "ada@@demo.example | Fritz",
    "ada@demo.example | Ada again",
    "ádá@demo.example | Hans",
  ],
  "mixed-line-ends.csv": [
    "ada@demo.example | Ada",
    "alan@demo.example | Al an",
    "grace@demo.example | Grace",
  ],
  "outlook-contacts.csv": [ada, "alan@demo.example | Alan Turing"],
  "pasted-recipients.txt": namesOf("ada alan grace katherine mary dorothy annie barbara"),
  "utf-16-big-endian.csv": ["ada@demo.example | Adá"],
  "without-header.csv": namesOf("ada grace"),
};

const products: Cases = {
  "active-directory-csvde.csv": [research, "grace@demo.example | Grace Hopper"],
  "bamboohr-employees.csv": [research],
  "bitwarden-members.csv": [ada, "bob@demo.example"],
  "entra-get-mguser.csv": [research, bob],
  "entra-portal-download.csv": ["ada.lovelace@demo.example | Ada Lovelace | Research", bob],
  "excel-csv-utf-8.csv": ["juergen@demo.example | Jürgen Müller", 'bob@demo.example | Kahn, "Bob"'],
  "excel-german-sep.csv": ["juergen@demo.example | Jürgen Müller", "zoe@demo.example | Zoë"],
  "excel-mac-classic.csv": ["juergen@demo.example | Jürgen Groß", "zoe@demo.example | Zoë Núñez"],
  "google-workspace-users.csv": [research, bob],
  "hibob-people.csv": [research],
  "knowbe4-users.csv": [research, bob],
  "libreoffice.csv": ['juergen@demo.example | Jürgen "Jo" Müller', "bob@demo.example | Kahn, Bob"],
  "microsoft-365-active-users.csv": [research, bob],
  "names-and-addresses.txt": [
    "ada@demo.example",
    "bob@demo.example",
    "juergen@demo.example",
    "eve@demo.example",
  ],
  "numbers.csv": ["juergen@demo.example | Jürgen Müller", bob],
  "okta-people.csv": ["ada.lovelace@demo.example | Ada Lovelace | Research", bob],
  "outlook-on-the-web-contacts.csv": [research, bob],
  "personio-employees.csv": [ada, "juergen@demo.example | Jürgen Müller | Lager"],
  "rippling-employees.csv": [research, `${bob} | Sales`],
  "slack-members.csv": [ada, bob],
};

const reports: Cases = {
  "control-characters.csv": [ada, "bob@demo.example | Bob"],
  "equals-before-quotes.csv": ["ada@demo.example | Ada"],
  "equals-before-quotes-with-comma.csv": ["ada@demo.example | Lovelace, Ada"],
  "header-with-hash.csv": ["ada@demo.example | Test æøå", "bob@demo.example | Bob"],
  "international-domains.csv": [
    "empfaenger@xn--mnchen-3ya.example | Empfänger",
    "info@xn--bcher-kva.example | Punycode",
    "info@xn--kse-qla.example | Käse",
    "османов@письмо.example | Cyrillic",
  ],
  "mac-roman.csv": ["ada@demo.example | SÍTIO UWADA", "bob@demo.example | ALHO PORÓ"],
  "mail-empty.csv": [
    "ada.l@demo.example | Ada Lovelace",
    "bob@demo.example | Bob Kahn",
    "eve@demo.example | Eve",
  ],
  "mail-without-mailbox.csv": ["ada@demo.example | Ada", "bob@demo.example | Bob"],
  "nonsense-above-header.csv": ["ada@demo.example | Ada"],
  "quote-within-code.csv": ["ada", "bob", "eve"].map(
    (name) => `${name}@demo.example | ${name[0]?.toUpperCase()}${name.slice(1)}`,
  ),
  "quote-within-prose.csv": [
    "ada@demo.example | Ada",
    "bob@demo.example | Bob",
    "grace@demo.example | Grace",
    "eve@demo.example | Eve",
  ],
  "quotes-doubled-at-start.csv": ["ada@demo.example | Ada", "bob@demo.example | Bob"],
  "separator-above-header.csv": ["ada@demo.example | Ada"],
  "windows-1252.csv": ["ada@demo.example | Jürgen", "bob@demo.example | Björn – Oslo"],
};

describe.each([
  ["forms", forms],
  ["products", products],
  ["reports", reports],
])("%s", (kind, cases) => {
  test.each(Object.entries(cases))("%s", (file, expected) => {
    expect(read(join(kind, file))).toEqual(expected);
  });

  test("every file is read", () => {
    expect(readdirSync(join(folder, kind)).sort()).toEqual(Object.keys(cases).sort());
  });
});
