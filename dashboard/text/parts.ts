/** Files with more rows than one import takes, in parts that each are a file of their own. */

/** At most four bytes each: a part stays below the MiB that an import takes. */
const mostCharacters = 250_000;

/** A header stands among the first records. */
const mostHeaderRecords = 20;

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

/** Parts of at most `mostEntries` addresses. Each begins with what stands in front of the first address. */
export function partsOf(text: string, mostEntries: number): string[] {
  const records = recordsOf(text).filter((record) => record.trim() !== "");
  const first = records.findIndex((record) => record.includes("@"));
  const header = first > 0 && first <= mostHeaderRecords ? records.splice(0, first) : [];
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
