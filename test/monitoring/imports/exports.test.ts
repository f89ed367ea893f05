/** Files as directories, CRM and HR systems export them, and what people's programs do to them. */
import { describe, expect, test } from "vitest";
import { extract } from "../../../shared/monitoring/imports/extract.ts";

/** "address, owner" of each entry. */
const read = (file: string | Buffer): string[] =>
  extract(Buffer.from(file)).found.map(({ email, ownerName }) =>
    ownerName === undefined ? email : `${email}, ${ownerName}`,
  );

type Case = [name: string, file: string | Buffer, expected: string[]];

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

describe("quotes that are not as RFC 4180 has them lose nobody", () => {
  const cases: Case[] = [
    [
      "MySQL escapes them by a backslash",
      'Name,Email\n"Robert \\"Bob\\" Kahn","bob@a.example"\n"Ada L","ada@a.example"\n',
      ['bob@a.example, Robert "Bob" Kahn', "ada@a.example, Ada L"],
    ],
    [
      "they are not doubled",
      'Name,Email\n"Kahn, "Bob"",bob@a.example\n"L, Ada",ada@a.example\n',
      ['bob@a.example, Kahn, "Bob"', "ada@a.example, L, Ada"],
    ],
    [
      "a spreadsheet quotes each line as one cell",
      '"Name,Email,Manager email"\n"Ada,ada@a.example,boss@a.example"\n"""Kahn, Bob"",bob@a.example,boss@a.example"\n',
      ["ada@a.example, Ada", "bob@a.example, Kahn, Bob"],
    ],
    [
      "a word processor makes them typographic, so that the comma between shifts the row",
      "Name,Email,Manager email\n“Kahn, Bob”,bob@a.example,boss@a.example\nAda,ada@a.example,boss@a.example\n",
      ["bob@a.example", "ada@a.example, Ada"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("templates that are filled in", () => {
  const cases: Case[] = [
    [
      "Entra, invitations in bulk",
      "version:v1.0,,,\nEmail address to invite [inviteeEmail] Required,Redirection url [inviteRedirectURL] Required,Send invitation message (true or false) [sendEmail],Customized invitation message [customizedMessageBody]\nExample: cgreen@contoso.example,https://myapps.example,TRUE,Ask it@a.example\nada@a.example,https://myapps.example,TRUE,Ask it@a.example\n",
      ["ada@a.example"],
    ],
    [
      "Entra, members of a group",
      "version:v1.0\nMember object ID or user principal name [memberObjectIdOrUpn] Required\nExample: 9832aad8-e4fe-496b-a604-95c6ef01ae75\nada@a.example\n",
      ["ada@a.example"],
    ],
    [
      "Google Workspace, users",
      "First Name [Required],Last Name [Required],Email Address [Required],Password [Required],New Primary Email [UPLOAD ONLY],Recovery Email,Work Secondary Email,Manager Email\nAda,L,ada@a.example,p@ss.word,new@a.example,ada@home.example,al@a.example,boss@a.example\n",
      ["ada@a.example, Ada L"],
    ],
    [
      "a row that is shifted onto its password",
      "Name,Email,Password\nKahn, Bob,bob,p@ss.word\nAda,ada@a.example,q@ss.word\n",
      ["Bob, Kahn", "ada@a.example, Ada"],
    ],
    [
      "passwords by other names",
      "Full name,Contact,Pwd,Temporary pass,Initial passcode\nAda,ada@a.example,p@ss.word,q@ss.word,r@ss.word\n",
      ["ada@a.example, Ada"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("text that was damaged on its way", () => {
  const cases: Case[] = [
    [
      "some names are UTF-8 that was read as Windows-1252",
      "First Name,Last Name,Email\nJosÃ©,NuÃ±ez,jose@a.example\nSean,Oâ€™Brien,sean@a.example\nZoë,Müller,zoe@a.example\n",
      ["jose@a.example, José Nuñez", "sean@a.example, Sean O’Brien", "zoe@a.example, Zoë Müller"],
    ],
    [
      "a name is UTF-8 that was read as ISO 8859-1",
      "Email,Name\nangel@a.example,Ã\u0081ngel GroÃ\u009fmann\n",
      ["angel@a.example, Ángel Großmann"],
    ],
    ["so is the byte order mark", "ï»¿Email,Name\nada@a.example,Ada\n", ["ada@a.example, Ada"]],
    [
      "a line break within a cell is a vertical tab",
      "Email,Name\nada@a.example,Ada\vL\n",
      ["ada@a.example, Ada L"],
    ],
    [
      "letters that only look like damage stay",
      "Email,Name\na@a.example,SÃO\nb@a.example,“ANDRÉ”\n",
      ["a@a.example, SÃO", "b@a.example, “ANDRÉ”"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("what stands above the header or beside the address is nobody's", () => {
  const cases: Case[] = [
    [
      "a report that names who ran it",
      "All Workers\nRun by:,admin@a.example\nRun date:,2026-11-20\n\nEmployee ID,Legal Name,Email - Work,Email - Home\n1,Ada L,ada@a.example,ada@home.example\n",
      ["ada@a.example, Ada L"],
    ],
    [
      "a comment",
      "# admin@a.example, 2026-11-20\nName,Email,Manager email\nAda,ada@a.example,boss@a.example\n",
      ["ada@a.example, Ada"],
    ],
    [
      "a title about e-mail",
      "Employee email list,,\nName,Email,Manager email\nAda,ada@a.example,boss@a.example\n",
      ["ada@a.example, Ada"],
    ],
    [
      "BambooHR's supervisors",
      "First Name,Last Name,Work Email,Supervisor email\nAda,L,ada@a.example,boss@a.example\nBob,K,,boss@a.example\n",
      ["ada@a.example, Ada L"],
    ],
    [
      "HubSpot's owners of contacts",
      "First Name,Last Name,Email,Contact owner,Email Domain\nAda,L,ada@a.example,Boss (boss@a.example),a.example\n",
      ["ada@a.example, Ada L"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));

  test.each([
    "Lars By,lars@a.example\nEva,eva@a.example\n",
    "To: lars@a.example, eva@a.example\nSubject: Email\n",
    "Name:,Email:\nLars,lars@a.example\nEva,eva@a.example\n",
  ])("but people are not left out as a title: %j", (file) => {
    expect(read(file).map((entry) => entry.split(",")[0])).toEqual(["lars@a.example", "eva@a.example"]);
  });
});

describe("other people's addresses are nobody's", () => {
  const cases: Case[] = [
    [
      "a deputy's",
      "Name,E-mail,Deputy e-mail,Line manager's email\nAda,,eve@a.example,boss@a.example\nBob,bob@a.example,eve@a.example,\n",
      ["bob@a.example, Bob"],
    ],
    [
      "a substitute's, beside addresses at work and at home in German",
      "Anzeigename;Mail dienstlich;Mail privat;Vertretung E-Mail\nAda;ada@a.example;al@home.example;bob@a.example\nBob;;bk@home.example;ada@a.example\n",
      ["ada@a.example, Ada", "bk@home.example, Bob"],
    ],
    [
      "of devices in Intune, the user's",
      '"Device name","Primary user UPN","Primary user email address","Primary user display name"\n"d1","al@a.example","ada@a.example","Ada L"\n',
      ["ada@a.example, Ada L"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("a person without an address in the first column is found in another", () => {
  const cases: Case[] = [
    [
      "Outlook has Exchange's internal name there",
      "First Name,Last Name,E-mail Address,E-mail Type,E-mail 2 Address\nAda,L,ada@a.example,SMTP,\nBob,K,/o=A/ou=B/cn=Recipients/cn=bob,EX,bob@a.example\n",
      ["ada@a.example, Ada L", "bob@a.example, Bob K"],
    ],
    [
      "a directory has a dash there",
      "displayName,mail,userPrincipalName\nAda,-,ada@a.example\nEve,eve@a.example,e@a.example\nMal,mal.a.example,\n",
      ["ada@a.example, Ada", "eve@a.example, Eve", "mal.a.example, Mal"],
    ],
    [
      "HubSpot has further addresses in one cell",
      "Email,First Name,Additional email addresses\nada@a.example,Ada,\n,Bob,bob@a.example;bk@a.example\n",
      ["ada@a.example, Ada", "bob@a.example, Bob", "bk@a.example, Bob"],
    ],
    [
      "a second or private address is the only one",
      "First Name,Email,Secondary Email,Home Email\nAda,ada@a.example,al@a.example,ada@home.example\nBob,,bob@a.example,\nEve,,,eve@home.example\n",
      ["ada@a.example, Ada", "bob@a.example, Bob", "eve@home.example, Eve"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("a file that is not all UTF-8", () => {
  const cases: Case[] = [
    [
      "Windows-1252 with typographic quotes",
      latin1("Name;E-Mail\nO\x92Brien;o@a.example\n\x84M\xfcller\x93;m@a.example\n"),
      ["o@a.example, O’Brien", "m@a.example, „Müller“"],
    ],
    [
      "one character was cut in half",
      Buffer.concat([
        Buffer.from("Name,Email\nJürgen,j@a.example\nGro"),
        latin1("\xc3,g@a.example\n"),
        Buffer.from("Zoë,z@a.example\n"),
      ]),
      ["j@a.example, Jürgen", "g@a.example, GroÃ", "z@a.example, Zoë"],
    ],
    [
      "lines of two files with different encodings",
      Buffer.concat([Buffer.from("Name,Email\nJürgen,j@a.example\n"), latin1("Zo\xeb,z@a.example\n")]),
      ["j@a.example, Jürgen", "z@a.example, Zoë"],
    ],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});

describe("cells that are kept from being calculated", () => {
  const cases: Case[] = [
    [
      "an equals sign before a quoted cell that holds the delimiter",
      'Name;Email\n="Kahn; Bob";="bob@a.example"\nAda;ada@a.example\n',
      ["bob@a.example, Kahn; Bob", "ada@a.example, Ada"],
    ],
    [
      "an apostrophe before what would be a formula",
      "Name,Email\n'-Ada,ada@a.example\n'=Al,'al@a.example\n",
      ["ada@a.example, -Ada", "al@a.example, =Al"],
    ],
    ["a tab inside of the quotes", 'Name,Email\n"\t+Ada","\tada@a.example"\n', ["ada@a.example, +Ada"]],
  ];
  test.each(cases)("%s", (_, file, expected) => expect(read(file)).toEqual(expected));
});
