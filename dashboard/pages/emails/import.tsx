import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, type Ends } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { useData } from "../../components/use-data.ts";
import { addressOf } from "../../place.ts";
import { addresses } from "../../text/words.ts";
import { LeaversDialog } from "./leavers.tsx";
import { Departed, PlanRows, Quote } from "./plan.tsx";
import type { Preview } from "./summary.ts";
import { type Import, useImport } from "./use-import.ts";

/** A file, then what its import would do, then the import. */
export function ImportDialog(ends: Ends) {
  const state = useImport(ends);
  const [hasLeavers, setLeavers] = useState(false);
  const { plan, action, leavesOut } = state;
  const directories = useData("", (signal) => call("GET /dashboard/directories", {}, { signal }));
  const hasDirectory = directories.value && directories.value.directories.length > 0;
  return (
    <Dialog title="Import addresses" onClose={ends.onClose} staysOpen={action.isBusy} isWide>
      <TextField
        label="File"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt"
        hint={
          "CSV, TSV or text, at most 5,000 addresses. Columns of owners' names and teams are imported " +
          "too, and missing teams are created."
        }
        disabled={action.isBusy}
        onChange={(event) => state.choose(event.currentTarget.files?.[0])}
      />
      <Working of={state} />
      <FailureNotice failure={state.readFailure} retry={state.readAgain} />
      <FailureNotice failure={action.failure} />
      {state.hasChanged && (
        <div class="notice waiting" role="alert">
          <p>
            Something has changed since the preview. This is what the import would do now. Nothing of it has
            been imported yet.
          </p>
        </div>
      )}
      {plan !== undefined && <Plan of={state} plan={plan} />}
      {plan !== undefined && hasDirectory && (
        <p class="muted">
          Who has left is said by your directory, so that this file disables nobody:{" "}
          <a href={addressOf("/settings/directory")}>Settings, Directory</a>.
        </p>
      )}
      <Buttons
        of={state}
        onClose={ends.onClose}
        onLeavers={hasDirectory === false ? () => setLeavers(true) : undefined}
      />
      {plan !== undefined && hasLeavers && (
        <LeaversDialog
          rows={leavesOut ? withoutDeparted(plan) : plan.allRows}
          onClose={() => setLeavers(false)}
          onDone={() => {
            ends.onDone();
            // If this fails, the import itself tells that the price has changed.
            state.showAnew(plan, leavesOut, true).catch(() => {});
          }}
        />
      )}
    </Dialog>
  );
}

/** Those who are left out count as missing from the file. */
function withoutDeparted({ allRows, departed }: Preview): Preview["allRows"] {
  const left = new Set(departed.map(({ email }) => email));
  return allRows.filter(({ email }) => !left.has(email));
}

function Working({ of: { isReading, action, progress } }: { of: Import }) {
  if (!isReading && !action.isBusy) return null;
  return (
    <>
      <p role="status">{isReading ? "Reading the file" : "Importing"} …</p>
      {progress.total > 1 && <Progress label="Parts" {...progress} />}
    </>
  );
}

function Plan({ of: { leavesOut, action, leaveOut }, plan }: { of: Import; plan: Preview }) {
  return (
    <>
      <Quote plan={plan} />
      {plan.guess !== undefined && (
        <p>
          The file is not in UTF-8 and was read as {plan.guess}. If names look wrong below, save it as CSV
          UTF-8.
        </p>
      )}
      <Departed
        of={plan.departed}
        isLeftOut={leavesOut}
        isBusy={action.isBusy}
        onChange={(isLeftOut) => void leaveOut(isLeftOut)}
      />
      <PlanRows {...plan} />
    </>
  );
}

function Buttons({
  of: { plan, action, stop, commit },
  onClose,
  onLeavers,
}: {
  of: Import;
  onClose: () => void;
  /** Undefined where the file does not tell who has left. */
  onLeavers: (() => void) | undefined;
}) {
  const wanted = plan?.rows.filter(({ status }) => status === "will_import").length ?? 0;
  return (
    <div class="buttons">
      {plan !== undefined && !action.isBusy && onLeavers !== undefined && (
        <>
          <Button kind="quiet" onClick={onLeavers}>
            Disable those who are missing from this file
          </Button>
          <span class="space" />
        </>
      )}
      {action.isBusy && plan !== undefined && plan.parts.length > 1 ? (
        <Button onClick={stop}>Stop after this part</Button>
      ) : (
        <Button disabled={action.isBusy} onClick={onClose}>
          Cancel
        </Button>
      )}
      {plan !== undefined && (
        <Button kind="primary" isBusy={action.isBusy} disabled={wanted === 0} onClick={() => void commit()}>
          {`Import ${addresses(wanted)}`}
        </Button>
      )}
    </div>
  );
}
