/** Files with more rows than one import takes, in parts that each are a file of their own. */

/** At most four bytes each: a part stays below the MiB that an import takes. */
const mostCharacters = 250_000;

/** A header stands among the first records. */
const mostHeaderRecords = 100;

/** The records of a table: a line that ends within quotes goes on. Without closing quotes each line is a record. */
function recordsOf(text: string): string[] {
  const records: string[] = [];
  let open = "";
  for (const line of text.split(/\r\n|\n|\r/)) {
    open = open === "" ? line : `${open}\n${line}`;
    if (open.split('"').length % 2 === 0) continue;
    records.push(open);
    open = "";
  }
  return open === "" ? records : text.split(/\r\n|\n|\r/);
}

/** How many addresses a record can give at most: one that has none is an entry, too. */
const entriesIn = (record: string): number => Math.max(1, record.split("@").length - 1);

const hasAddress = (record: string): boolean => record.includes("@");
const filledCells = (record: string): number =>
  record.split(/[,;\t]/).filter((cell) => cell.trim() !== "").length;

/** In brackets a heading may have an address as an example. */
const isHeader = (record: string): boolean =>
  /mail|courriel|correo|user|log[io]n/i.test(record) &&
  filledCells(record) > 1 &&
  !hasAddress(record.replace(/\([^()]*\)/g, ""));

/** How many records stand up to the header, itself included: "Owner:;hr@demo.example" may be above it. */
function headerLength(records: readonly string[]): number {
  const first = Math.max(0, records.findIndex(hasAddress));
  const header = records.slice(0, mostHeaderRecords).findIndex(isHeader);
  const isBelowLines =
    header >= first && records.slice(first, header).every((record) => filledCells(record) <= 2);
  return isBelowLines ? header + 1 : first <= mostHeaderRecords ? first : 0;
}

/** Parts of at most `mostEntries` addresses. Each begins with the header, and what stands above it. */
export function partsOf(text: string, mostEntries: number): string[] {
  const records = recordsOf(text).filter((record) => record.trim() !== "");
  const header = records.splice(0, headerLength(records));
  const headerCharacters = header.join("\n").length;
  const parts: string[][] = [];
  let [entries, characters] = [Number.POSITIVE_INFINITY, 0];
  for (const record of records) {
    entries += entriesIn(record);
    characters += record.length + 1;
    if (entries > mostEntries || characters > mostCharacters) {
      parts.push([...header]);
      entries = entriesIn(record);
      characters = headerCharacters + record.length + 1;
    }
    parts.at(-1)?.push(record);
  }
  return parts.map((part) => part.join("\n"));
}
