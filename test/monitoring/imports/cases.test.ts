/** What is read of files that people and their programs export: those of test/cases/imports/, and shorter ones. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { extract } from "../../../shared/monitoring/imports/extract.ts";

const folder = join(import.meta.dirname, "../../cases/imports");

/** "address | owner | team" of each entry. */
const read = (file: string | Buffer): string[] =>
  extract(Buffer.from(file)).candidates.map(({ email, ownerName = "", team = "" }) =>
    [email, ownerName, team].join(" | ").replace(/( \| )+$/, ""),
  );

type Cases = Record<string, string[]>;

const ada = "ada@demo.example | Ada Lovelace";
const bob = "bob@demo.example | Bob Kahn";
const pia = "pia.l@demo.example | Pia Lund | Ops";
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
  "error-values-and-zero.csv": ["pia.l@demo.example | Pia", "bob@demo.example | Kahn"],
  "error-values-german.csv": ["pia.l@demo.example | Pia Lund", "ada@demo.example |  | Ops"],
  "header-in-line-34.csv": [pia],
  "header-with-hash.csv": ["ada@demo.example | Test æøå", "bob@demo.example | Bob"],
  "international-domains.csv": [
    "empfaenger@xn--mnchen-3ya.example | Empfänger",
    "info@xn--bcher-kva.example | Punycode",
    "info@xn--kse-qla.example | Käse",
    "османов@письмо.example | Cyrillic",
    "ime@xn--eckwa1h.jp.example | Ime",
    "half@demo.example | Half",
    "ada@demo.example | Sentence",
  ],
  "label-lines.csv": [pia],
  "label-lines-semicolons.csv": [pia],
  "mac-roman.csv": ["ada@demo.example | SÍTIO UWADA", "bob@demo.example | ALHO PORÓ"],
  "mail-empty.csv": [
    "ada.l@demo.example | Ada Lovelace",
    "bob@demo.example | Bob Kahn",
    "eve@demo.example | Eve",
  ],
  "mail-without-mailbox.csv": ["ada@demo.example | Ada", "bob@demo.example | Bob"],
  "metadata-and-totals.csv": [pia],
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
  "suspended-in-google-workspace.csv": ["ada@demo.example | Ada", "bob@demo.example | Bob"],
  "suspended-in-office-365.csv": ["ada@demo.example | Ada", "print@demo.example | Print Service"],
  "title-with-addresses.csv": [pia],
  "windows-1252.csv": ["ada@demo.example | Jürgen", "bob@demo.example | Björn – Oslo"],
};

describe.each([
  ["forms", forms],
  ["products", products],
  ["reports", reports],
])("%s", (kind, cases) => {
  test.each(Object.entries(cases))("%s", (file, expected) => {
    expect(read(readFileSync(join(folder, kind, file)))).toEqual(expected);
  });

  test("every file is read", () => {
    expect(readdirSync(join(folder, kind)).sort()).toEqual(Object.keys(cases).sort());
  });
});

type Case = [name: string, file: string | Buffer, expected: string[]];

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const texts: Record<string, Case[]> = {
  "quotes that are not as RFC 4180 has them lose nobody": [
    [
      "MySQL escapes them by a backslash",
      'Name,Email\n"Robert \\"Bob\\" Kahn","bob@a.example"\n"Ada L","ada@a.example"\n',
      ['bob@a.example | Robert "Bob" Kahn', "ada@a.example | Ada L"],
    ],
    [
      "they are not doubled",
      'Name,Email\n"Kahn, "Bob"",bob@a.example\n"L, Ada",ada@a.example\n',
      ['bob@a.example | Kahn, "Bob"', "ada@a.example | L, Ada"],
    ],
    [
      "a spreadsheet quotes each line as one cell",
      '"Name,Email,Manager email"\n"Ada,ada@a.example,boss@a.example"\n"""Kahn, Bob"",bob@a.example,boss@a.example"\n',
      ["ada@a.example | Ada", "bob@a.example | Kahn, Bob"],
    ],
    [
      "a word processor makes them typographic, so that the comma between shifts the row",
      "Name,Email,Manager email\n“Kahn, Bob”,bob@a.example,boss@a.example\nAda,ada@a.example,boss@a.example\n",
      ["bob@a.example", "ada@a.example | Ada"],
    ],
  ],
  "templates that are filled in": [
    [
      "Entra | invitations in bulk",
      "version:v1.0,,,\nEmail address to invite [inviteeEmail] Required,Redirection url " +
        "[inviteRedirectURL] Required,Send invitation message (true or false) " +
        "[sendEmail],Customized invitation message [customizedMessageBody]\nExample: " +
        "cgreen@contoso.example,https://myapps.example,TRUE,Ask it@a.example\n" +
        "ada@a.example,https://myapps.example,TRUE,Ask it@a.example\n",
      ["ada@a.example"],
    ],
    [
      "Entra | members of a group",
      "version:v1.0\nMember object ID or user principal name [memberObjectIdOrUpn] Required\n" +
        "Example: 9832aad8-e4fe-496b-a604-95c6ef01ae75\nada@a.example\n",
      ["ada@a.example"],
    ],
    [
      "a row that is shifted onto its password",
      "Name,Email,Password\nKahn, Bob,bob,p@ss.word\nAda,ada@a.example,q@ss.word\n",
      ["Bob | Kahn", "ada@a.example | Ada"],
    ],
    [
      "passwords by other names",
      "Full name,Contact,Pwd,Temporary pass,Initial passcode\nAda,ada@a.example,p@ss.word,q@ss.word,r@ss.word\n",
      ["ada@a.example | Ada"],
    ],
  ],
  "text that was damaged on its way": [
    [
      "some names are UTF-8 that was read as Windows-1252",
      "First Name,Last Name,Email\nJosÃ©,NuÃ±ez,jose@a.example\nSean,Oâ€™Brien,sean@a.example\n" +
        "Zoë,Müller,zoe@a.example\n",
      ["jose@a.example | José Nuñez", "sean@a.example | Sean O’Brien", "zoe@a.example | Zoë Müller"],
    ],
    [
      "a name is UTF-8 that was read as ISO 8859-1",
      "Email,Name\nangel@a.example,Ã\u0081ngel GroÃ\u009fmann\n",
      ["angel@a.example | Ángel Großmann"],
    ],
    ["so is the byte order mark", "ï»¿Email,Name\nada@a.example,Ada\n", ["ada@a.example | Ada"]],
    [
      "a line break within a cell is a vertical tab",
      "Email,Name\nada@a.example,Ada\vL\n",
      ["ada@a.example | Ada L"],
    ],
    [
      "letters that only look like damage stay",
      "Email,Name\na@a.example,SÃO\nb@a.example,“ANDRÉ”\n",
      ["a@a.example | SÃO", "b@a.example | “ANDRÉ”"],
    ],
    [
      "punctuation of Windows-1252 was taken for ISO 8859-1",
      "Name,Email\nSean O\u0092Brien,s@a.example",
      ["s@a.example | Sean O’Brien"],
    ],
    ["DOS's end of file stands behind it", "Name,Email\nAda,ada@a.example\n\u001a", ["ada@a.example | Ada"]],
  ],
  "what stands above the header or beside the address is nobody's": [
    [
      "a report that names who ran it",
      "All Workers\nRun by:,admin@a.example\nRun date:,2026-11-20\n\nEmployee ID,Legal " +
        "Name,Email - Work,Email - Home\n1,Ada L,ada@a.example,ada@home.example\n",
      ["ada@a.example | Ada L"],
    ],
    [
      "a comment",
      "# admin@a.example, 2026-11-20\nName,Email,Manager email\nAda,ada@a.example,boss@a.example\n",
      ["ada@a.example | Ada"],
    ],
    [
      "a title about e-mail",
      "Employee email list,,\nName,Email,Manager email\nAda,ada@a.example,boss@a.example\n",
      ["ada@a.example | Ada"],
    ],
    [
      "BambooHR's supervisors",
      "First Name,Last Name,Work Email,Supervisor email\nAda,L,ada@a.example,boss@a.example\nBob,K,,boss@a.example\n",
      ["ada@a.example | Ada L"],
    ],
    [
      "HubSpot's owners of contacts",
      "First Name,Last Name,Email,Contact owner,Email Domain\nAda,L,ada@a.example,Boss (boss@a.example),a.example\n",
      ["ada@a.example | Ada L"],
    ],
    [
      "a title with an address",
      "Report exported by admin@a.example on 2026-11-20\nFirst name,Last name,Email,Manager " +
        "email\nAda,L,ada@a.example,boss@a.example",
      ["ada@a.example | Ada L"],
    ],
    [
      "an example in a heading",
      "First name,Last name,Email (jane.doe@a.example),Manager email\nAda,L,ada@a.example,boss@a.example",
      ["ada@a.example | Ada L"],
    ],
    [
      "a title, tabs below",
      "Report exported by admin@a.example on 2026-11-20\nFirst name\tLast name\tEmail\nAda\tL\tada@a.example",
      ["ada@a.example | Ada L"],
    ],
  ],
  "lines of a label and a value above the header are nobody's": [
    [
      "as wide as the header, with a colon",
      "Owner:;hr@a.example\nE-Mail;Name\nada@a.example;Ada\n",
      ["ada@a.example | Ada"],
    ],
    [
      "as wide as the header, by a word",
      "Kontakt;hr@a.example\nName;E-Mail\nAda;ada@a.example\n",
      ["ada@a.example | Ada"],
    ],
    [
      "label and address in one cell",
      "Owner: hr@a.example\nName,Email\nAda,ada@a.example\n",
      ["ada@a.example | Ada"],
    ],
    [
      "an address alone",
      "Staff list\nhr@a.example\nName,Email,Team\nAda,ada@a.example,Ops\n",
      ["ada@a.example | Ada | Ops"],
    ],
    [
      "several values",
      "Contact,HR,hr@a.example,it@a.example\nName,Email,Team\nAda,ada@a.example,Ops\n",
      ["ada@a.example | Ada | Ops"],
    ],
    [
      "below a line that could be a header",
      "Name:,Staff list\nOwner:,hr@a.example\nFull name,Work e-mail,Team\nAda,ada@a.example,Ops\n",
      ["ada@a.example | Ada | Ops"],
    ],
    [
      "where the addresses stand in another column than the header says",
      "Owner:,hr@a.example,\nName,Email,Other\nAda,,ada@a.example\n",
      ["ada@a.example | Ada"],
    ],
  ],
  "other people's addresses are nobody's": [
    [
      "a deputy's",
      "Name,E-mail,Deputy e-mail,Line manager's email\nAda,,eve@a.example,boss@a.example\n" +
        "Bob,bob@a.example,eve@a.example,\n",
      ["bob@a.example | Bob"],
    ],
    [
      "a substitute's, beside addresses at work and at home in German",
      "Anzeigename;Mail dienstlich;Mail privat;Vertretung E-Mail\n" +
        "Ada;ada@a.example;al@home.example;bob@a.example\nBob;;bk@home.example;ada@a.example\n",
      ["ada@a.example | Ada", "bk@home.example | Bob"],
    ],
    [
      "of devices in Intune, the user's",
      '"Device name","Primary user UPN","Primary user email address","Primary user display ' +
        'name"\n"d1","al@a.example","ada@a.example","Ada L"\n',
      ["ada@a.example | Ada L"],
    ],
  ],
  "a person without an address in the first column is found in another": [
    [
      "Outlook has Exchange's internal name there",
      "First Name,Last Name,E-mail Address,E-mail Type,E-mail 2 Address\n" +
        "Ada,L,ada@a.example,SMTP,\nBob,K,/o=A/ou=B/cn=Recipients/cn=bob,EX,bob@a.example\n",
      ["ada@a.example | Ada L", "bob@a.example | Bob K"],
    ],
    [
      "a directory has a dash there",
      "displayName,mail,userPrincipalName\nAda,-,ada@a.example\nEve,eve@a.example,e@a.example\nMal,mal.a.example,\n",
      ["ada@a.example | Ada", "eve@a.example | Eve", "mal.a.example | Mal"],
    ],
    [
      "HubSpot has further addresses in one cell",
      "Email,First Name,Additional email addresses\nada@a.example,Ada,\n,Bob,bob@a.example;bk@a.example\n",
      ["ada@a.example | Ada", "bob@a.example | Bob", "bk@a.example | Bob"],
    ],
    [
      "a second or private address is the only one",
      "First Name,Email,Secondary Email,Home Email\n" +
        "Ada,ada@a.example,al@a.example,ada@home.example\nBob,,bob@a.example,\n" +
        "Eve,,,eve@home.example\n",
      ["ada@a.example | Ada", "bob@a.example | Bob", "eve@home.example | Eve"],
    ],
    [
      "Google Contacts has a second one, and the whole name beside the given one",
      "Name,Given Name,E-mail 1 - Value,E-mail 2 - Value\nAda L,Ada,ada@a.example,\nBob,Bob,,bob@a.example",
      ["ada@a.example | Ada L", "bob@a.example | Bob"],
    ],
  ],
  "a file that is not all UTF-8": [
    [
      "one character was cut in half",
      Buffer.concat([
        Buffer.from("Name,Email\nJürgen,j@a.example\nGro"),
        latin1("\xc3,g@a.example\n"),
        Buffer.from("Zoë,z@a.example\n"),
      ]),
      ["j@a.example | Jürgen", "g@a.example | GroÃ", "z@a.example | Zoë"],
    ],
    [
      "lines of two files with different encodings",
      Buffer.concat([Buffer.from("Name,Email\nJürgen,j@a.example\n"), latin1("Zo\xeb,z@a.example\n")]),
      ["j@a.example | Jürgen", "z@a.example | Zoë"],
    ],
    [
      "characters that were damaged before, which no later request could echo",
      "Name,Email\nJ\ufffdrgen,j@a.example\nZo\ufffd,zo\ufffd@a.example\n",
      ["j@a.example | J□rgen", "zo□@a.example | Zo□"],
    ],
  ],
  "cells that are kept from being calculated": [
    [
      "an apostrophe before what would be a formula",
      "Name,Email\n'-Ada,ada@a.example\n'=Al,'al@a.example\n",
      ["ada@a.example | -Ada", "al@a.example | =Al"],
    ],
    ["a tab inside of the quotes", 'Name,Email\n"\t+Ada","\tada@a.example"\n', ["ada@a.example | +Ada"]],
    [
      "an equals sign within the quotes",
      'Name,Email\n"=""Ada""","=""ada@a.example"""',
      ["ada@a.example | Ada"],
    ],
  ],
};

describe.each(Object.entries(texts))("%s", (_, cases) => {
  test.each(cases)("%s", (_name, file, expected) => expect(read(file)).toEqual(expected));
});

test.each([
  "Lars By,lars@a.example\nEva,eva@a.example\n",
  "To: lars@a.example, eva@a.example\nSubject: Email\n",
  "Name:,Email:\nLars,lars@a.example\nEva,eva@a.example\n",
  "Lars,lars@a.example\nEva,eva@a.example\nPia,Email\n",
  "Lars,lars@a.example\nEva,eva@a.example\nEmail support,wiki,none\n",
  "Email,Note,Name\nlars@a.example,by,Lars\neva@a.example,x,Eva:\n",
])("people are not left out as a title: %j", (file) => {
  expect(read(file).map((entry) => entry.split(" | ")[0])).toEqual(["lars@a.example", "eva@a.example"]);
});
