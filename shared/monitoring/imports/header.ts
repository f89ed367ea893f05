/**
 * Finds the header of an exported table: which columns hold addresses, and which hold the names of their
 * owners. It knows the headings of Google Workspace, Microsoft Entra and Outlook, and of people's own tables
 * in the larger languages of Europe.
 */

export type Header = {
  /** The index of the record that is the header. */
  record: number;
  columnCount: number;
  /** The columns headed like "email", best first. Empty when only names are headed. */
  addressColumns: readonly Column[];
  nameColumns: NameColumns;
  /**
   * The rank of the best address column. The lower the rank, the surer it is that this record is a header.
   */
  rank: number;
};

type Column = { index: number; rank: number };

/** Indexes of the columns that together make up an owner's name. */
export type NameColumns = readonly number[];

/**
 * Normalized headings of columns of addresses. A heading's rank is the index of the first pattern that
 * matches.
 */
const addressHeadings = [
  /^(primary|work|business|company|corporate|user|employee|contact)?e?mail(adresse?|address|adres|value)?$/,
  /email|mailad|courriel|correo|epost|postaelettronica/,
  /userprincipalname/,
] as const;

/** Headings of addresses that are not meant to be monitored, and of columns that only mention e-mail. */
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
/** Headings of the whole name, or of the family name when there is a column of given names. */
const names = new Set(["name", "nom", "naam"]);

/** The first record with a heading like "email". Else the first of all records, if it heads names. */
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
      columnCount: cells.length,
      addressColumns: columns,
      nameColumns: nameColumnsOf(headings),
      rank: best?.rank ?? addressHeadings.length,
    };
    if (best !== undefined) return header;
    if (header.nameColumns.length > 0) ofNames = header;
  }
  return ofNames;
};

const maximumHeadingCharacters = 60;

/** "E-Mail-Adresse", "Email Address [Required]" → "emailadresse", "emailaddress". */
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

const nameColumnsOf = (headings: readonly string[]): NameColumns => {
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
