/** A result for people: a table of a list, or a line for each field. What of users' text is not seen but acts is escaped. */
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

/** A page of a list, and how to see the next. */
export const printPage = ({ nextOffset, ...list }: Record<string, unknown>): string =>
  `${print(list)}${nextOffset === undefined ? "" : `There are more: --offset ${nextOffset} shows the next.\n`}`;

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

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
};
