/**
 * A result as text for people: a table if its only field is a list, else a line for each field. Control and
 * format characters are escaped, since they could make a terminal act.
 */
export const print = (result: Record<string, unknown>): string => {
  const entries = Object.entries(result);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && Array.isArray(only[1])) {
    const [noun, rows] = only as [string, Record<string, unknown>[]];
    return rows.length === 0 ? `No ${noun}.\n` : table(rows);
  }
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}\n`).join("");
};

/** A page of a list, and the flag that shows the next page, if there is one. */
export const printPage = ({ nextOffset, nextBefore, ...list }: Record<string, unknown>): string => {
  const next = nextOffset === undefined ? nextBefore && `before ${nextBefore}` : `offset ${nextOffset}`;
  return `${print(list)}${next === undefined ? "" : `There are more: --${next} shows the next.\n`}`;
};

const table = (rows: readonly Record<string, unknown>[]): string => {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
};

/**
 * These fields of a row in the order to show, as the table gives attributes in none; null where the row has
 * no such field.
 */
export const pick = <Row extends object>(row: Row, ...names: (keyof Row)[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

/** A value without characters that could make a terminal act. */
export const shown = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
};
