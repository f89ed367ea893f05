import { useState } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import type { ImportPlan } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { isUnicode } from "../../text/encoding.ts";
import { count } from "../../text/words.ts";
import { PlanRows, Quote } from "./plan.tsx";

/** A file, then what its import would do, then the import. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [file, setFile] = useState<File>();
  const [plan, setPlan] = useState<ImportPlan>();
  const [isGuessed, setGuessed] = useState(false);
  const [hasChanged, setChanged] = useState(false);
  const action = useAction();
  const rows = plan?.emails.filter(({ status }) => status === "will_import") ?? [];

  const preview = (chosen: File) =>
    action.run(async () => {
      setPlan(await call("POST /v1/emails/import/preview", { file: chosen }));
      setGuessed(!isUnicode(new Uint8Array(await chosen.arrayBuffer())));
    });

  const commit = () =>
    action.run(async () => {
      if (plan === undefined || file === undefined) return;
      try {
        const done = await call("POST /v1/emails/import/commit", { body: plan });
        const disabled = done.disabledCount > 0 ? `, ${done.disabledCount} of them disabled` : "";
        say(`Imported ${count(done.importedCount, "address", "addresses")}${disabled}.`);
      } catch (error) {
        if (asFailure(error).code !== "quote_mismatch") throw error;
        // People agree to what they see: the new quote is shown, and the button is theirs to press again.
        setPlan(await call("POST /v1/emails/import/preview", { file }));
        setChanged(true);
        return;
      }
      onDone();
      onClose();
    });

  return (
    <Dialog title="Import addresses" onClose={onClose} staysOpen={action.isBusy} isWide>
      <TextField
        label="File"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt"
        hint="CSV, TSV or text, at most 1 MiB and 500 addresses. Columns of owners' names and of teams are taken along; missing teams are created."
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          setFile(chosen);
          setPlan(undefined);
          setChanged(false);
          action.clear();
          if (chosen !== undefined) void preview(chosen);
        }}
      />
      {action.isBusy && <p role="status">{plan === undefined ? "Reading the file …" : "Importing …"}</p>}
      {action.failure !== undefined && (
        <FailureNotice
          failure={action.failure}
          {...(file !== undefined && plan === undefined && { retry: () => void preview(file) })}
        />
      )}
      {hasChanged && (
        <div class="notice waiting" role="alert">
          <p>
            Something changed since the preview. This is what the import does now; nothing was imported yet.
          </p>
        </div>
      )}
      {plan !== undefined && (
        <>
          <Quote plan={plan} />
          {isGuessed && (
            <p>
              The file is not in UTF-8 and was read as Windows-1252. If names look wrong below, save it as CSV
              UTF-8.
            </p>
          )}
          <PlanRows plan={plan} />
        </>
      )}
      <div class="buttons">
        <Button disabled={action.isBusy} onClick={onClose}>
          Cancel
        </Button>
        {plan !== undefined && (
          <Button
            kind="primary"
            isBusy={action.isBusy}
            disabled={rows.length === 0}
            onClick={() => void commit()}
          >
            {`Import ${count(rows.length, "address", "addresses")}`}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
