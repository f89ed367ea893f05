import { useState } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Progress as ProgressBar } from "../../components/progress.tsx";
import { count } from "../../text/words.ts";
import { mostWithoutReason, offerUndo, onlyOf } from "./acknowledge.tsx";
import { change, type Progress, partlyDone, type Selection } from "./requests.ts";

const resolutions = [
  { value: "handled", label: "Handled: something was done about it" },
  { value: "ignored", label: "Ignored: nothing has to be done" },
];

type Properties = Ends & {
  selection: Selection;
  isReopening: boolean;
};

/** Asks for a resolution and a reason, and acknowledges; or reopens. */
export function AcknowledgeDialog({ selection, isReopening, ...ends }: Properties) {
  const [progress, setProgress] = useState<Progress>();
  const { total, words } = selection;
  const id = onlyOf(selection);
  const needsReason = total > mostWithoutReason;

  const act = async (fields: FormData): Promise<string | undefined> => {
    const reason = String(fields.get("reason")).trim() || undefined;
    const resolution = fields.get("resolution") === "ignored" ? "ignored" : "handled";
    const options = { reason, onProgress: setProgress };
    try {
      if (isReopening) return `Reopened ${count((await change(selection, options)).done, "finding")}.`;
      if (id !== undefined) {
        await call("POST /v1/breaches/acknowledge", { body: { id, resolution, reason } });
        offerUndo(selection, 1);
      } else {
        const { done, createdAt } = await change(selection, { ...options, resolution });
        offerUndo(selection, done, createdAt);
      }
      return undefined;
    } catch (error) {
      // What is selected stays as it is, unless a part of it is done.
      if (asFailure(error).code === partlyDone) ends.onDone();
      throw error;
    }
  };

  const name = isReopening ? "Reopen" : "Acknowledge";
  return (
    <FormDialog
      {...ends}
      title={`${name} ${count(total, "finding")}`}
      submit={name}
      canLeave={progress !== undefined}
      onSubmit={act}
    >
      {words !== undefined && <p>{words}, on every page. Findings that are new from now on stay open.</p>}
      {isReopening ? (
        <p>They will be open again. Who acknowledged them, when and why is deleted.</p>
      ) : (
        <SelectField label="Resolution" name="resolution" choices={resolutions} chosen="handled" />
      )}
      <TextField
        label="Reason"
        name="reason"
        rows={3}
        maxLength={1000}
        required={needsReason}
        missing="More than 100 findings at once need a reason."
        hint={
          `${needsReason ? "More than 100 at once need one." : "Optional."} Others in your ` +
          "organization can read it."
        }
      />
      {progress !== undefined && (
        <>
          <ProgressBar label={name} done={progress.done} total={progress.matching} />
          <p>
            <small>This continues if you close the dialog or leave the page.</small>
          </p>
        </>
      )}
    </FormDialog>
  );
}
