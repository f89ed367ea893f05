import { useState } from "preact/hooks";
import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { useData } from "../../components/use-data.ts";
import { csvLine } from "../../text/csv.ts";
import { knownDay } from "../../text/dates.ts";
import { textOfHtml } from "../../text/html.ts";
import { count } from "../../text/words.ts";
import type { Filters } from "./filters.ts";

type Cell = string | number | null;

const columns: readonly (readonly [head: string, cell: (finding: Finding) => Cell])[] = [
  ["id", ({ id }) => id],
  ["email", ({ email }) => email],
  ["owner", ({ ownerName }) => ownerName],
  ["team", ({ team }) => team?.name ?? null],
  ["severity", ({ severity }) => severity],
  ["breach", ({ breach }) => breach.title],
  ["breach_date", ({ breach }) => knownDay(breach.breachDate)],
  ["sensitive", ({ breach }) => (breach.isSensitive ? "yes" : "no")],
  ["exposed", ({ breach }) => breach.dataClasses.join("; ")],
  ["description", ({ breach }) => textOfHtml(breach.description)],
  ["first_detected_at", ({ firstDetectedAt }) => firstDetectedAt],
  ["last_seen_at", ({ lastSeenAt }) => lastSeenAt],
  ["history", ({ isHistory }) => (isHistory ? "yes" : "no")],
  ["stolen_logins", ({ stealerLogDomains }) => stealerLogDomains?.join("; ") ?? null],
  ["owner_told_at", ({ ownerToldAt }) => ownerToldAt],
  ["state", ({ acknowledged }) => (acknowledged ? "acknowledged" : "open")],
  ["resolution", ({ resolution }) => resolution],
  ["reason", ({ acknowledgeReason }) => acknowledgeReason],
  ["acknowledged_at", ({ acknowledgedAt }) => acknowledgedAt],
  [
    "acknowledged_by",
    ({ acknowledgedBy, acknowledgedByApiKey }) =>
      acknowledgedBy?.label ?? acknowledgedByApiKey?.label ?? null,
  ],
];

const head = csvLine(columns.map(([head]) => head));
const lineOf = (finding: Finding): string => csvLine(columns.map(([, cell]) => cell(finding)));

/** Loads all findings that match, page by page, and saves them as a file. Closing it cancels that. */
export function ExportDialog({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const { failure, reload } = useData("", async (signal) => {
    const lines: string[] = [];
    const pages = allPages("findings", (page) =>
      call("GET /dashboard/findings", { query: { ...filters, ...page } }, { signal }),
    );
    for await (const { rows, total } of pages) {
      lines.push(...rows.map(lineOf));
      setProgress({ done: lines.length, total });
    }
    signal.throwIfAborted();
    // The mark tells spreadsheets that the file is UTF-8.
    offer(new Blob(["\uFEFF", head, ...lines], { type: "text/csv" }));
    say(`Exported ${count(lines.length, "finding")}.`);
    onClose();
  });

  return (
    <Dialog title="Export findings" onClose={onClose} button="Cancel">
      <p>
        All findings that match the filters are saved as a CSV file. It contains personal data: store it
        safely.
      </p>
      <Progress label="Exporting" done={progress?.done ?? 0} total={progress?.total ?? 1} />
      <FailureNotice failure={failure} retry={reload} />
      <p>
        <small>Cells that a spreadsheet would take for a formula begin with an apostrophe.</small>
      </p>
    </Dialog>
  );
}

function offer(file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `findings-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
