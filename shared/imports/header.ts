/**
 * Reads the headings of an export: which columns hold addresses, and which the names of their owners. The words are those
 * of Google Workspace, Microsoft Entra, Outlook and of tables that people keep themselves, in the larger languages.
 */

export type Header = {
  /** Which of the records it is. */
  record: number;
  /** Number of columns. */
  width: number;
  /** Those headed like "email", best first; none when it heads names only. */
  columns: readonly Column[];
  names: NameColumns;
  /** That of its best column; the lower, the better it reads as a header. */
  rank: number;
};

type Column = { index: number; rank: number };

/** Columns that make up the name of an owner together. */
export type NameColumns = readonly number[];

/** What a column of addresses is headed; earlier patterns are better ones. */
const addressHeadings = [
  /^(primary|work|business|company|corporate|user|employee|contact)?e?mail(adresse?|address|adres|value)?$/,
  /email|mailad|courriel|correo|epost|postaelettronica/,
  /userprincipalname/,
] as const;

/** Of addresses that are not the ones to monitor, and of what is not an address. */
const otherHeadings =
  /recovery|secondary|alternat|other|personal|private|privat|home|backup|manager|alias|status|verified|type|label|format|optin|date|domain|sent|count/;

const fullNames = new Set([
  ..."displayname fullname ownername owner employeename anzeigename vollstandigername".split(" "),
  ..."nomcomplet nombrecompleto nomecompleto nomeecognome volledigenaam".split(" "),
]);
const givenNames = new Set("firstname givenname forename vorname prenom nombre nome voornaam".split(" "));
const familyNames = new Set([
  ..."lastname surname familyname nachname familienname zuname nomdefamille".split(" "),
  ..."apellido apellidos cognome sobrenome achternaam".split(" "),
]);
/** Beside a given name they are the family name. */
const names = new Set(["name", "nom", "naam"]);

/** The first record that heads a column like "email"; if none does, the first of all, when it heads names. */
export const firstHeader = (records: readonly (readonly string[])[]): Header | undefined => {
  let ofNames: Header | undefined;
  for (const [record, cells] of records.entries()) {
    const headings = cells.map(normalize);
    const columns = headings
      .map((heading, index) => ({ index, rank: rankOf(heading) }))
      .filter(({ rank }) => rank >= 0)
      .sort((a, b) => a.rank - b.rank || a.index - b.index);
    const [best] = columns;
    if (best === undefined && record > 0) continue;
    const header = {
      record,
      width: cells.length,
      columns,
      names: nameColumns(headings),
      rank: best?.rank ?? addressHeadings.length,
    };
    if (best !== undefined) return header;
    if (header.names.length > 0) ofNames = header;
  }
  return ofNames;
};

const maximumHeadingCharacters = 60;

/** "E-Mail-Adresse", "Email Address [Required]", "E-mail 1 - Value" → "emailadresse", "emailaddress", "emailvalue". */
const normalize = (cell: string): string =>
  cell.length > maximumHeadingCharacters
    ? ""
    : cell
        .replace(/\[[^\]]*\]|\([^)]*\)/g, "")
        .normalize("NFKD")
        .toLowerCase()
        .replace(/[^\p{Letter}]/gu, "");

const rankOf = (heading: string): number =>
  otherHeadings.test(heading) ? -1 : addressHeadings.findIndex((pattern) => pattern.test(heading));

const nameColumns = (headings: readonly string[]): NameColumns => {
  const headed = (words: Set<string>): number[] => {
    const index = headings.findIndex((heading) => words.has(heading));
    return index < 0 ? [] : [index];
  };
  const [full, given, family, name] = [fullNames, givenNames, familyNames, names].map(headed) as [
    number[],
    number[],
    number[],
    number[],
  ];
  if (full.length > 0) return full;
  if (given.length > 0) return [...given, ...(family.length > 0 ? family : name)];
  return name.length > 0 ? name : family;
};
