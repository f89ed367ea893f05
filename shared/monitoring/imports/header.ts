/**
 * Finds the header of an exported table: the columns of addresses, and of their owners' names and teams. It
 * knows the headings of Google Workspace, Microsoft Entra, Outlook, and of own tables in the larger languages
 * of Europe.
 */

import { type DepartureColumn, departureColumnsOf } from "./departure.ts";

export type Header = {
  /** The index of the record that is the header. */
  record: number;
  columnCount: number;
  /**
   * The columns headed like "email", best first, then those of further addresses. Empty when none is headed
   * like "email".
   */
  addressColumns: readonly number[];
  /** Best first: an owner's name is in the first of them that has one. */
  nameColumns: readonly NameColumns[];
  /** The column of the owners' teams. */
  teamColumn?: number;
  departureColumns: readonly DepartureColumn[];
  /** Their cells are never read, since a password may look like an address. */
  passwordColumns: readonly number[];
  /**
   * These, and columns of managers and other people. Their cells are not read where a row's addresses may be
   * in any cell.
   */
  unreadColumns: readonly number[];
  /**
   * The rank of the best address column. The lower the rank, the surer it is that this record is a header.
   */
  rank: number;
};

/** Indexes of the columns that together make up an owner's name. */
export type NameColumns = readonly number[];

/**
 * Normalized headings of columns of addresses. A heading's rank is the index of the first pattern that
 * matches.
 */
const addressHeadings = [
  new RegExp(
    "^(primary|work|business|company|corporate|user|employee|contact)?" +
      "e?mail(adresse?|address|adres|value|dienstlich|geschaftlich|privat)?$",
  ),
  /email|mailad|courriel|correo|epost|postaelettronica/,
  /userprincipalname|^(user|login|logon|account)name$|^(user)?log[io]n$/,
] as const;

const otherPeople = new RegExp(
  "manager|supervisor|assistant|deputy|delegate|substitut|vertret|emergency|approver|sponsor" +
    "|(created|modified|invited|added)by|reportsto" +
    "|vorgesetzt|superieur|superior|responsab|jefe|leidinggevende",
);

/** Headings of columns that only mention e-mail. */
const mentions = /password|status|verified|type|label|format|optin|date|domain|sent|count/;

/** Headings of the owner's further addresses, which count only in rows without another. */
const furtherHeadings =
  /recovery|authentication|^second|secondary|^new|alternat|other|personal|private|privat|home|backup|alias/;
const furtherRank = addressHeadings.length;

const passwordHeadings =
  /password|passwort|kennwort|motdepasse|contrasena|senha|wachtwoord|passphrase|passcode|pass$|pwd|secret/;

const fullNames = new Set([
  ..."displayname userdisplayname primaryuserdisplayname fullname legalname payrollname contactname".split(
    " ",
  ),
  ..."ownername owner employeename anzeigename vollstandigername".split(" "),
  ..."nomcomplet nombrecompleto nomecompleto nomeecognome volledigenaam".split(" "),
]);
const givenNames = new Set("firstname givenname forename vorname prenom nombre nome voornaam".split(" "));
const familyNames = new Set([
  ..."lastname surname familyname nachname familienname zuname nomdefamille".split(" "),
  ..."apellido apellidos cognome sobrenome achternaam".split(" "),
]);
/** Headings of the whole name, or of the family name when there is a column of given names. */
const names = new Set(["name", "nom", "naam"]);

/** In some tables a whole name, in others only how people are called. */
const preferredNames = new Set(["preferredname", "nickname"]);

/** Headings of teams, best first. In the plural they head lists, such as all groups that somebody is in. */
const teamHeadings = [
  /^(team|equipe|equipo|squadra)(name)?$/,
  /^(department|dept|abteilung|departement|departamento|dipartimento|reparto|afdeling)(name)?$/,
  /^(group|gruppe|groupe|grupo|gruppo|groep)(name)?$/,
];

/** How many records may stand before the header: a title, a version, who exported the file. */
export const maximumRecordsBefore = 100;

/**
 * The first record with a heading like "email" and another heading. Else the first with "email" alone, as in
 * the title "Email list". Else the first of all records, if it heads names, teams or passwords. Records
 * before it hold no address, except titles, and labels with a value before a wider header.
 */
export const firstHeader = (records: readonly (readonly string[])[]): Header | undefined => {
  let best: Header | undefined;
  let widestLine = 0;
  for (const [record, cells] of records.slice(0, maximumRecordsBefore).entries()) {
    if (isTitle(cells)) continue;
    const width = filled(cells).length;
    const headings = cells.map(headingsIn);
    if (headings.some((heading) => heading.some(isAddressLike))) {
      if (width > maximumCellsOfLine) break;
      widestLine = Math.max(widestLine, width);
      continue;
    }
    const header = headerOf(record, cells, headings);
    if (header === undefined) continue;
    const isOfTable = width > 1 && header.addressColumns.length > 0;
    // The lines may as well be people, of a list that has no header.
    if (widestLine > 0 && !(isOfTable && width > widestLine && isSure(header))) continue;
    if (isOfTable) return header;
    if (header.rank < (best?.rank ?? Infinity)) best = header;
  }
  return best;
};

/** A label and its value. */
const maximumCellsOfLine = 2;

/** Whether a record heads addresses by nothing but "email", or also heads their owners. */
const isSure = ({ rank, nameColumns, teamColumn }: Header): boolean =>
  rank === 0 || nameColumns.length > 0 || teamColumn !== undefined;

/** Undefined if no cell of the record heads addresses, nor, of the first record, something about people. */
const headerOf = (
  record: number,
  cells: readonly string[],
  headings: readonly (readonly string[])[],
): Header | undefined => {
  const columns = headings
    .map((heading, index) => ({
      index,
      rank: rankOf(heading, normalize(withoutAddresses(cells[index] ?? ""))),
    }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  const rank = columns[0]?.rank ?? furtherRank;
  const isOfAddresses = rank < furtherRank;
  if (!isOfAddresses && record > 0) return undefined;
  const passwordColumns = columnsHeaded(headings, passwordHeadings);
  const header = {
    record,
    columnCount: cells.length,
    addressColumns: isOfAddresses ? columns.map(({ index }) => index) : [],
    nameColumns: nameColumnsOf(headings),
    ...teamColumnOf(headings),
    departureColumns: departureColumnsOf(headings),
    passwordColumns,
    unreadColumns: [...passwordColumns, ...columnsHeaded(headings, otherPeople)],
    rank,
  };
  const isOfOthers =
    header.nameColumns.length + passwordColumns.length > 0 || header.teamColumn !== undefined;
  return isOfAddresses || isOfOthers ? header : undefined;
};

export const isAddressLike = (cell: string): boolean => cell.includes("@");

const filled = (cells: readonly string[]): string[] => cells.filter((cell) => cell.trim() !== "");

/** A comment; a label with its values ("Owner:,hr@demo.example"); or a sentence with an address, alone on its line. */
const isTitle = (cells: readonly string[]): boolean => {
  const [first = "", ...more] = filled(cells);
  if (!cells.some(isAddressLike)) return false;
  if (isLabel(first) || labelWords.test(first) || /^\s*#/.test(first)) return true;
  // Starting at every letter of a word, and not only at its first, would take quadratic time.
  return more.length === 0 && !/[<>]/.test(first) && /(?<!\p{L})(\p{L}+\s+){3}/u.test(first);
};

/** Whether a cell says what follows it: "Owner:", also with the address in the same cell. */
export const isLabel = (cell: string): boolean => /^[^@:：]*[:：](?:\s*$|\s+\S*@)/.test(cell);

/** Of labels without a colon: who made a file, and who answers for it. */
const labelWords = new RegExp(
  "\\b(?:by|contact|kontakt|contat?to|owner|author|auteur|autor|creator|erstellt|ersteller" +
    "|sender|ansprechpartner(?:in)?|verantwortlich|responsab(?:le|ile)|e-?mail)\\b",
  "i",
);

const maximumHeadingCharacters = 60;

/**
 * What a directory's template says of a column: "Email Address [Required]", "User name [userPrincipalName] Required".
 */
const remarks = /\b(required|optional)\s*$/i;

/**
 * What a cell may head: "E-Mail-Adresse" is "emailadresse"; "User name [userPrincipalName] Required" is
 * "username" and "userprincipalname". A cell with an address outside of brackets gives a heading with "@".
 */
const headingsIn = (cell: string): string[] => {
  if (cell.length > maximumHeadingCharacters) return isAddressLike(cell) ? ["@"] : [];
  const outside = cell.replace(/\[[^\]]*\]|\([^)]*\)/g, "").replace(remarks, "");
  const property = /\[([^\]]*)\]/.exec(cell)?.[1] ?? "";
  return [outside, property].map(normalize).filter((heading) => heading !== "");
};

const normalize = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{Letter}@]/gu, "");

const withoutAddresses = (cell: string): string =>
  cell.length > maximumHeadingCharacters ? "" : cell.replace(/\S*@\S*/g, "");

/**
 * The best rank of a cell's headings, `furtherRank` if it heads further addresses, -1 if it heads none.
 * `whole` is the cell with its brackets, which tell whose addresses they are: "Email (manager)", "Email
 * (personal)".
 */
const rankOf = (headings: readonly string[], whole: string): number => {
  if (otherPeople.test(whole) || headings.some((heading) => mentions.test(heading))) return -1;
  const ranks = headings.map((heading) => addressHeadings.findIndex((pattern) => pattern.test(heading)));
  const rank = ranks.filter((each) => each >= 0).sort()[0] ?? -1;
  return rank >= 0 && furtherHeadings.test(whole) ? furtherRank : rank;
};

const columnsHeaded = (headings: readonly (readonly string[])[], pattern: RegExp): number[] =>
  headings.flatMap((heading, index) => (heading.some((text) => pattern.test(text)) ? [index] : []));

const nameColumnsOf = (headings: readonly (readonly string[])[]): NameColumns[] => {
  const headed = (words: Set<string>): number[] => {
    const index = headings.findIndex((heading) => heading.some((text) => words.has(text)));
    return index < 0 ? [] : [index];
  };
  const [full = [], given = [], family = [], name = [], preferred = []] = [
    fullNames,
    givenNames,
    familyNames,
    names,
    preferredNames,
  ].map(headed);
  const whole = name.length > 0 ? name : family;
  const composed = given.length > 0 ? [...given, ...(family.length > 0 ? family : name)] : whole;
  return [full, composed, preferred].filter((columns) => columns.length > 0);
};

const teamColumnOf = (headings: readonly (readonly string[])[]): Pick<Header, "teamColumn"> => {
  const columns = teamHeadings.map((words) =>
    headings.findIndex((heading) => heading.some((text) => words.test(text))),
  );
  const teamColumn = columns.find((index) => index >= 0);
  return teamColumn === undefined ? {} : { teamColumn };
};
