import { useRef, useState } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, type Ends } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { Progress } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { addresses, number } from "../../text/words.ts";
import { LeaversDialog } from "./leavers.tsx";
import { type Preview, preview, previewPart, summaryOf } from "./parts.ts";
import { PlanRows, Quote } from "./plan.tsx";

/** A file, then what its import would do, then the import. */
export function ImportDialog({ onClose, onDone }: Ends) {
  const [file, setFile] = useState<File>();
  const [plan, setPlan] = useState<Preview>();
  const [hasChanged, setChanged] = useState(false);
  const [progress, setProgress] = useState<{ label: string; done: number; total: number }>();
  const [hasLeavers, setLeavers] = useState(false);
  const isStopped = useRef(false);
  const action = useAction();
  const wanted = plan?.rows.filter(({ status }) => status === "will_import").length ?? 0;

  const read = (chosen: File) =>
    action.run(async () => {
      const label = "Reading the file";
      setPlan(await preview(chosen, (done, total) => setProgress({ label, done, total })));
    });

  /** Part after part, each as a whole. After the first, each has another price. */
  const commit = () =>
    action.run(async () => {
      if (plan === undefined) return;
      isStopped.current = false;
      const { parts } = plan;
      let [imported, disabled] = [0, 0];
      for (const [index, part] of parts.entries()) {
        setProgress({ label: "Importing", done: index, total: parts.length });
        if (isStopped.current) break;
        if (index > 0) part.plan = await previewPart(part.file);
        if (!part.plan.emails.some(({ status }) => status === "will_import")) continue;
        const { emails, quote } = part.plan;
        try {
          const done = await call("POST /v1/emails/import/commit", { body: { emails, quote } });
          imported += done.importedCount;
          disabled += done.disabledCount;
        } catch (error) {
          if (asFailure(error).code !== "quote_mismatch") throw error;
          // People agree to what they see: the new price is shown, and the button is theirs to press again.
          part.plan = await previewPart(part.file);
          setPlan({ ...plan, ...summaryOf(parts.slice(index)) });
          setChanged(true);
          return;
        } finally {
          if (imported > 0) onDone();
        }
      }
      const off = disabled > 0 ? `, ${number(disabled)} of them disabled` : "";
      const rest = isStopped.current ? " You stopped it: the other parts were not imported." : "";
      say(`Imported ${addresses(imported)}${off}.${rest}`);
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
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          setFile(chosen);
          setPlan(undefined);
          setChanged(false);
          action.clear();
          if (chosen !== undefined) void read(chosen);
        }}
      />
      {action.isBusy && progress !== undefined && (
        <>
          <p role="status">{progress.label} …</p>
          {progress.total > 1 && <Progress {...progress} />}
        </>
      )}
      {action.failure !== undefined && (
        <FailureNotice
          failure={action.failure}
          {...(file !== undefined && plan === undefined && { retry: () => void read(file) })}
        />
      )}
      {hasChanged && (
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
        <LeaversDialog rows={plan.allRows} onClose={() => setLeavers(false)} onDone={onDone} />
      )}
    </Dialog>
  );
}
