import { useState } from "preact/hooks";
import { asFailure, call, serviceTime } from "../../api/client.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Progress as ProgressBar } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { count } from "../../text/words.ts";
import { acknowledge, canUndo, type Progress, partlyDone, reopen, type Selection, undo } from "./requests.ts";

const resolutions = [
  { value: "handled", label: "Handled: something was done about it" },
  { value: "ignored", label: "Ignored: nothing has to be done" },
];

/** So many are not acknowledged or reopened by mistake: whoever does it says why. */
const mostWithoutReason = 100;

type Properties = Ends & {
  selection: Selection;
  /** Whether they are reopened instead of acknowledged. */
  isReopening?: boolean;
};

/** Acknowledges findings, or reopens them. */
export function AcknowledgeDialog({ selection, isReopening = false, ...ends }: Properties) {
  const [progress, setProgress] = useState<Progress>();
  const [openedAt] = useState(() => serviceTime().toISOString());
  const total = selection.kind === "chosen" ? selection.findings.length : selection.total;
  const [first] = selection.kind === "chosen" && total === 1 ? selection.findings : [];
  const needsReason = total > mostWithoutReason;

  const act = async (fields: FormData): Promise<string | undefined> => {
    const reason = String(fields.get("reason")).trim() || undefined;
    const options = { reason, openedAt, onProgress: setProgress };
    const resolution = fields.get("resolution") === "ignored" ? "ignored" : "handled";
    try {
      if (isReopening) return `Reopened ${count((await reopen(selection, options)).done, "finding")}.`;
      if (first !== undefined) {
        const body = { id: first.id, resolution, ...(reason !== undefined && { reason }) } as const;
        await call("POST /v1/breaches/acknowledge", { body });
        offerUndo(1, openedAt);
      } else {
        const { done, createdAt } = await acknowledge(selection, resolution, options);
        offerUndo(done, createdAt);
      }
      return undefined;
    } catch (error) {
      // What is selected stays as it is, unless a part of it is done.
      if (asFailure(error).code === partlyDone) ends.onDone();
      throw error;
    }
  };

  const offerUndo = (done: number, acknowledgedAt: string): void => {
    const act = async (): Promise<void> => {
      say("Reopening …");
      try {
        say(`Reopened ${count(await undo(selection, acknowledgedAt), "finding")}.`);
      } catch (error) {
        say(`Not everything was reopened: ${asFailure(error).message}`);
      }
      ends.onDone();
    };
    const offer = canUndo(selection) ? { name: "Undo", act: () => void act() } : undefined;
    say(`Acknowledged ${count(done, "finding")}.`, offer);
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
      {selection.kind === "matching" && (
        <p>{selection.words}, on every page. Findings that are new from now on stay open.</p>
      )}
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
        hint={`${needsReason ? "More than 100 at once need one." : "Optional."} Others in your organization can read it.`}
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
