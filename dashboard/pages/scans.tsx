import { call } from "../api/client.ts";
import type { Scan } from "../api/routes.ts";
import { DetailsButton } from "../components/button.tsx";
import { type Show, useDialog } from "../components/dialog.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Empty } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { Progress } from "../components/progress.tsx";
import { isRunning, StartScan } from "../components/start-scan.tsx";
import type { Column } from "../components/table.tsx";
import { useRepeat } from "../components/use-data.ts";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { number } from "../text/words.ts";
import { anyState } from "./findings/filters.ts";
import { CoverageDialog } from "./scans/coverage.tsx";

export function ScansPage() {
  const data = usePage({}, (query, signal) => call("GET /v1/scans", { query }, { signal }));
  const isScanning = data.value?.scans.some(isRunning) ?? false;
  // An office behind one address has 100 requests a minute.
  useRepeat(isScanning, 5, data);
  const { dialog, show } = useDialog();
  return (
    <Page title="Scans" actions={<StartScan isScanning={isScanning} onStarted={data.reload} />}>
      <p class="prose">
        A scan asks Have I Been Pwned about every enabled address at a verified domain. Scans of the last 365
        days are listed.
      </p>
      <Listing
        what="scans"
        data={data}
        rowsOf={({ scans }) => scans}
        columns={columns(show)}
        empty={
          <Empty title="No scan has run yet.">
            Start one now, or choose under <a href={addressOf("/settings/organization")}>Settings</a> how
            often the service scans by itself.
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}

const types: Record<Scan["type"], string> = {
  manual: "Started by hand",
  scheduled: "Scheduled",
  catalog_triggered: "After a new breach",
};
const states: Record<Scan["status"], string> = {
  pending: "Waiting",
  running: "Running",
  completed: "Completed",
  failed: "Failed",
};

const columns = (show: Show): Column<Scan>[] => [
  {
    name: "Started",
    kind: "main",
    width: "time",
    cell: ({ startedAt, createdAt }) => <When time={startedAt ?? createdAt} />,
  },
  { name: "Why", cell: ({ type }) => types[type] },
  {
    name: "State",
    width: "time",
    cell: (scan) => (
      <span class={`state ${scan.status === "failed" ? "bad" : isRunning(scan) ? "open" : ""}`}>
        {states[scan.status]}
      </span>
    ),
  },
  { name: "Checked", cell: (scan) => <Checked scan={scan} show={show} /> },
  { name: "New findings", kind: "number", width: "time", cell: (scan) => <NewFindings scan={scan} /> },
  { name: "Completed", width: "time", cell: ({ completedAt }) => <When time={completedAt} none="not yet" /> },
];

/** How much was checked, and what was not and why. */
function Checked({ scan, show }: { scan: Scan; show: Show }) {
  const { scannedEmails, totalEmails, errorMessage, status } = scan;
  if (isRunning(scan)) {
    return <Progress label="Checked so far" done={scannedEmails} total={totalEmails} />;
  }
  const missed = totalEmails - scannedEmails;
  return (
    <>
      <DetailsButton
        about="What the scan checked"
        onClick={() => show(({ onClose }) => <CoverageDialog scan={scan} onClose={onClose} />)}
      >
        {missed === 0 && status === "completed"
          ? number(totalEmails)
          : `${number(scannedEmails)} of ${number(totalEmails)}, ${number(missed)} could not be`}
      </DetailsButton>
      {errorMessage !== null && <small>{errorMessage}</small>}
      {errorMessage === null && missed > 0 && <small>The next scan checks them again.</small>}
    </>
  );
}

function NewFindings({ scan: { id, newBreachesFound, findingsItemized } }: { scan: Scan }) {
  if (newBreachesFound === 0) return <span class="muted">0</span>;
  if (!findingsItemized) return <>{number(newBreachesFound)}</>;
  return (
    <a href={addressOf("/findings", { scanId: id, acknowledged: anyState })}>{number(newBreachesFound)}</a>
  );
}
