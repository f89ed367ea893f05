import { useRef, useState } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, type Ends } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { addresses, number } from "../../text/words.ts";
import { LeaversDialog } from "./leavers.tsx";
import { billingNow, preview, previewPart } from "./parts.ts";
import { Departed, PlanRows, Quote } from "./plan.tsx";
import { type Preview, summaryOf } from "./summary.ts";

/** Those who are left out count as missing from the file. */
function withoutDeparted({ allRows, departed }: Preview): Preview["allRows"] {
  const left = new Set(departed.map(({ email }) => email));
  return allRows.filter(({ email }) => !left.has(email));
}

/** A file, then what its import would do, then the import. */
export function ImportDialog({ onClose, onDone }: Ends) {
  const [{ file, choices }, setChosen] = useState<{ file?: File | undefined; choices: number }>({
    choices: 0,
  });
  /** The plan of the remaining parts, where it differs from the file's. */
  const [rest, setRest] = useState<{ plan: Preview; hasChanged: boolean }>();
  const [progress, setProgress] = useState({ done: 0, total: 0 });
  const [hasLeavers, setLeavers] = useState(false);
  const [leavesOut, setLeavesOut] = useState(false);
  const isStopped = useRef(false);
  const action = useAction();
  // Each choice counts: the same file may have changed.
  const read = useData(
    String(choices),
    async (signal) => file && preview(file, (done, total) => setProgress({ done, total }), signal),
  );
  const isReading = read.isLoading && file !== undefined;
  const plan = read.isLoading || read.failure !== undefined ? undefined : (rest?.plan ?? read.value);
  const wanted = plan?.rows.filter(({ status }) => status === "will_import").length ?? 0;

  /** What is left would do something else now. Only the first part is imported as it was previewed. */
  const showAnew = async (left: Preview, leavesOut: boolean, hasChanged: boolean): Promise<void> => {
    for (const part of left.parts.slice(0, 1)) part.plan = await previewPart(part.file, leavesOut);
    const summary = summaryOf(left.parts, await billingNow(), leavesOut);
    setRest({ plan: { ...left, ...summary }, hasChanged });
  };

  const choose = async (isLeftOut: boolean): Promise<void> => {
    if (plan === undefined) return;
    setLeavesOut(isLeftOut);
    const isShown = await action.run(() => showAnew(plan, isLeftOut, rest?.hasChanged ?? false));
    if (!isShown) setLeavesOut(!isLeftOut);
  };

  /** Part after part, each as a whole. After the first, each has another price. */
  const commit = () =>
    action.run(async () => {
      if (plan === undefined) return;
      isStopped.current = false;
      const { parts } = plan;
      let [imported, disabled] = [0, 0];
      for (const [index, part] of parts.entries()) {
        setProgress({ done: index, total: parts.length });
        if (isStopped.current) break;
        try {
          if (index > 0) part.plan = await previewPart(part.file, leavesOut);
          if (!part.plan.emails.some(({ status }) => status === "will_import")) continue;
          const { emails, quote } = part.plan;
          const done = await call("POST /v1/emails/import/commit", { body: { emails, quote } });
          imported += done.importedCount;
          disabled += done.disabledCount;
        } catch (error) {
          const hasChanged = ["quote_mismatch", "nothing_to_import"].includes(asFailure(error).code ?? "");
          // What is imported is not asked for again. Of the rest the new price is shown: people agree to what they see.
          const billing = { ...plan.billing, activeCount: plan.billing.activeCount + imported - disabled };
          const left = { ...plan, ...summaryOf(parts.slice(index), billing, leavesOut) };
          if (hasChanged) return await showAnew(left, leavesOut, true);
          setRest({ plan: left, hasChanged });
          throw error;
        } finally {
          if (imported > 0) onDone();
        }
      }
      const off = disabled > 0 ? `, ${number(disabled)} of them disabled` : "";
      const left = isStopped.current ? " You stopped it: the other parts were not imported." : "";
      say(`Imported ${addresses(imported)}${off}.${left}`);
      onClose();
    });

  return (
    <Dialog title="Import addresses" onClose={onClose} staysOpen={action.isBusy} isWide>
      <TextField
        label="File"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt"
        hint="CSV, TSV or text, at most 5,000 addresses. Columns of owners' names and teams are imported too, and missing teams are created."
        disabled={action.isBusy}
        onChange={(event) => {
          setChosen({ file: event.currentTarget.files?.[0], choices: choices + 1 });
          setRest(undefined);
          setLeavesOut(false);
          action.clear();
        }}
      />
      {(isReading || action.isBusy) && (
        <>
          <p role="status">{isReading ? "Reading the file" : "Importing"} …</p>
          {progress.total > 1 && <Progress label="Parts" {...progress} />}
        </>
      )}
      <FailureNotice failure={read.isLoading ? undefined : read.failure} retry={read.reload} />
      <FailureNotice failure={action.failure} />
      {rest?.hasChanged && (
        <div class="notice waiting" role="alert">
          <p>
            Something has changed since the preview. This is what the import would do now. Nothing of it has
            been imported yet.
          </p>
        </div>
      )}
      {plan !== undefined && (
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
            onChange={(isLeftOut) => void choose(isLeftOut)}
          />
          <PlanRows {...plan} />
        </>
      )}
      <div class="buttons">
        {plan !== undefined && !action.isBusy && (
          <>
            <Button kind="quiet" onClick={() => setLeavers(true)}>
              Disable those who are missing from this file
            </Button>
            <span class="space" />
          </>
        )}
        {action.isBusy && plan !== undefined && plan.parts.length > 1 ? (
          <Button
            onClick={() => {
              isStopped.current = true;
            }}
          >
            Stop after this part
          </Button>
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
      {plan !== undefined && hasLeavers && (
        <LeaversDialog
          rows={leavesOut ? withoutDeparted(plan) : plan.allRows}
          onClose={() => setLeavers(false)}
          onDone={() => {
            onDone();
            // If this fails, the import itself tells that the price has changed.
            showAnew(plan, leavesOut, true).catch(() => {});
          }}
        />
      )}
    </Dialog>
  );
}
