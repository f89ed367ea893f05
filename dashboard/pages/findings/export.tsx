import { useEffect, useState } from "preact/hooks";
import { allPages } from "../../api/all-pages.ts";
import { asFailure, call, isAbort } from "../../api/client.ts";
import type { Failure } from "../../api/failure.ts";
import type { Finding } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { csvLine } from "../../text/csv.ts";
import { textOfHtml } from "../../text/html.ts";
import { count } from "../../text/words.ts";
import type { Filters } from "./filters.ts";

const head = [
  "id",
  "email",
  "owner",
  "team",
  "severity",
  "breach",
  "breach_date",
  "sensitive",
  "exposed",
  "description",
  "first_detected_at",
  "last_seen_at",
  "state",
  "resolution",
  "reason",
  "acknowledged_at",
  "acknowledged_by",
];

const lineOf = (finding: Finding): string =>
  csvLine([
    finding.id,
    finding.email,
    finding.ownerName,
    finding.team?.name ?? null,
    finding.severity,
    finding.breach.title,
    finding.breach.breachDate,
    finding.breach.isSensitive ? "yes" : "no",
    finding.breach.dataClasses.join("; "),
    textOfHtml(finding.breach.description),
    finding.firstDetectedAt,
    finding.lastSeenAt,
    finding.acknowledged ? "acknowledged" : "open",
    finding.resolution,
    finding.acknowledgeReason,
    finding.acknowledgedAt,
    finding.acknowledgedBy?.label ?? finding.acknowledgedByApiKey?.label ?? null,
  ]);

/** Loads all findings that match, page by page, and saves them as a file. Closing it cancels that. */
export function ExportDialog({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const [failure, setFailure] = useState<Failure>();
  const [round, setRound] = useState(0);

  const save = async (signal: AbortSignal): Promise<void> => {
    // By id: a finding that is detected meanwhile moves the others to the next page.
    const lines = new Map<number, string>();
    const pages = allPages((page) =>
      call("GET /dashboard/findings", { query: { ...filters, ...page } }, { signal }),
    );
    for await (const { findings, total } of pages) {
      for (const finding of findings) lines.set(finding.id, lineOf(finding));
      setProgress({ done: lines.size, total });
    }
    // The mark tells spreadsheets that the file is UTF-8.
    offer(new Blob(["\uFEFF", csvLine(head), ...lines.values()], { type: "text/csv" }));
    say(`Exported ${count(lines.size, "finding")}.`);
    onClose();
  };

  useEffect(() => {
    const abort = new AbortController();
    setFailure(undefined);
    save(abort.signal).catch((error: unknown) => isAbort(error) || setFailure(asFailure(error)));
    return () => abort.abort();
  }, [round]);

  return (
    <Dialog title="Export findings" onClose={onClose}>
      <p>
        All findings that match the filters are saved as a CSV file. It contains personal data: store it
        safely.
      </p>
      <Progress label="Exporting" done={progress?.done ?? 0} total={progress?.total ?? 1} />
      <FailureNotice failure={failure} retry={() => setRound(round + 1)} />
      <p>
        <small>Cells that a spreadsheet would take for a formula begin with an apostrophe.</small>
      </p>
      <div class="buttons">
        <Button onClick={onClose}>Cancel</Button>
      </div>
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
