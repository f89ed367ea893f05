import { useState } from "preact/hooks";
import { csvLine } from "../text/csv.ts";
import { Dialog } from "./dialog.tsx";
import { FailureNotice } from "./notice.tsx";
import { Progress } from "./progress.tsx";
import { say } from "./status.tsx";
import { useData } from "./use-data.ts";

/** The columns of a file: the name in its head, and the cell of a row. */
export type CsvColumns<Row> = readonly (readonly [
  head: string,
  cell: (row: Row) => string | number | null,
])[];

type ExportProps<Row> = {
  /** What is exported, such as "findings"; the file is named after it. */
  what: string;
  columns: CsvColumns<Row>;
  /** All that match, page by page, in an order in which no row moves meanwhile. */
  pagesOf: (signal: AbortSignal) => AsyncIterable<{ rows: readonly Row[]; total: number }>;
  /** The order of the file, if it is another one. */
  inOrder?: ((one: Row, other: Row) => number) | undefined;
  /** So many rows in words. */
  counted: (rows: number) => string;
  /** Tells the service of a file with so many rows: without an entry in the activity log there is no file. */
  record: (rows: number, signal: AbortSignal) => Promise<unknown>;
  onClose: () => void;
};

/** Loads all rows that match, page by page, and saves them as a file. Closing it cancels that. */
export function ExportDialog<Row>({
  what,
  columns,
  pagesOf,
  inOrder,
  counted,
  record,
  onClose,
}: ExportProps<Row>) {
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const { failure, reload } = useData("", async (signal) => {
    const all: Row[] = [];
    for await (const { rows, total } of pagesOf(signal)) {
      all.push(...rows);
      setProgress({ done: all.length, total });
    }
    if (inOrder !== undefined) all.sort(inOrder);
    const lines = all.map((row) => csvLine(columns.map(([, cell]) => cell(row))));
    await record(lines.length, signal);
    signal.throwIfAborted();
    const head = csvLine(columns.map(([name]) => name));
    // The mark tells spreadsheets that the file is UTF-8.
    offer(new Blob(["\uFEFF", head, ...lines], { type: "text/csv" }), what);
    say(`Exported ${counted(lines.length)}.`);
    onClose();
  });

  return (
    <Dialog title={`Export ${what}`} onClose={onClose} button="Cancel">
      <p>
        All {what} that match the filters are saved as a CSV file. It contains personal data: store it safely.
        The activity log will say that you have exported it.
      </p>
      <Progress label="Exporting" done={progress?.done ?? 0} total={progress?.total ?? 1} />
      <FailureNotice failure={failure} retry={reload} />
      <p>
        <small>Cells that a spreadsheet would take for a formula begin with an apostrophe.</small>
      </p>
    </Dialog>
  );
}

function offer(file: Blob, what: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${what}-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
