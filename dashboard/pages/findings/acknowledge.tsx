import { useState } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import { type Ends, FormDialog, type Show } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Progress as ProgressBar } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { doWithUndo, sayWithUndo } from "../../components/undo.ts";
import { session } from "../../session.ts";
import { count } from "../../text/words.ts";
import { change, type Progress, partlyDone, type Selection, undo } from "./requests.ts";

const resolutions = [
  { value: "handled", label: "Handled: something was done about it" },
  { value: "ignored", label: "Ignored: nothing has to be done" },
];

/** So many are not acknowledged or reopened by mistake: whoever does it says why. */
const mostWithoutReason = 100;

/** Asks before findings are acknowledged, or reopened. @throws Failure */
export async function ask(
  show: Show,
  selected: Selection | Promise<Selection>,
  isReopening: boolean,
): Promise<void> {
  const selection = await selected;
  if (selection.total === 0) say(`None of them is ${isReopening ? "acknowledged" : "open"}.`);
  else show((ends) => <AcknowledgeDialog {...ends} selection={selection} isReopening={isReopening} />);
}

const undoWords = { doing: "Reopening …", failed: "Not everything was reopened" };

/**
 * Acknowledges without a question: people can undo it. Asks for a reason where the service wants one. Resolves
 * to false if it failed.
 */
export const acknowledge = (show: Show, selected: Selection | Promise<Selection>): Promise<boolean> =>
  doWithUndo(
    async (isUndone) => {
      const selection = await selected;
      const { total, isOpen } = selection;
      if (total === 0 || !isOpen) return { done: "None of them is open." };
      if (isUndone()) return { done: "Nothing was acknowledged." };
      if (total > mostWithoutReason) return void (await ask(show, selection, false));
      const { done, createdAt } = await acknowledgeOpen(selection);
      if (done === 0) return { done: "None of them was open any more." };
      return { done: acknowledged(done), undo: undoing(selection, createdAt) };
    },
    { ...undoWords, begin: "Acknowledging …", notDone: "Not everything was acknowledged" },
  );

/** A single finding is acknowledged by a request of its own, which is quicker. */
const onlyOf = ({ total, filter: { ids } }: Selection): number | undefined =>
  total === 1 ? ids?.[0] : undefined;

/** Colleagues may have acknowledged one meanwhile. What they said of it stays. */
async function acknowledgeOpen(selection: Selection): Promise<{ done: number; createdAt?: string }> {
  const id = onlyOf(selection);
  if (id === undefined) return change(selection, { resolution: "handled" });
  const { acknowledged } = await call("GET /dashboard/findings/{id}", { path: { id } });
  if (acknowledged) return { done: 0 };
  await call("POST /v1/breaches/acknowledge", { body: { id, resolution: "handled" } });
  return { done: 1 };
}

const acknowledged = (done: number): string => `Acknowledged ${count(done, "finding")}.`;

const undoing = (selection: Selection, acknowledgedAt?: string) => async (): Promise<string> => {
  const id = onlyOf(selection);
  const at = acknowledgedAt ?? (id === undefined ? undefined : await timeOfOwn(id));
  if (at === undefined) return "Nothing was reopened: somebody else has changed it since.";
  return `Reopened ${count((await undo(selection, at)).done, "finding")}.`;
};

/** When the reader has acknowledged a finding: the reply of that request does not say. Undefined: somebody else has. */
async function timeOfOwn(id: number): Promise<string | undefined> {
  const { acknowledgedAt, acknowledgedBy } = await call("GET /dashboard/findings/{id}", { path: { id } });
  return acknowledgedBy?.id === session.value?.user.id ? (acknowledgedAt ?? undefined) : undefined;
}

function offerUndo(selection: Selection, done: number, acknowledgedAt?: string): void {
  if (selection.isOpen) sayWithUndo(acknowledged(done), undoing(selection, acknowledgedAt), undoWords);
  else say(acknowledged(done));
}

type Properties = Ends & {
  selection: Selection;
  isReopening: boolean;
};

function AcknowledgeDialog({ selection, isReopening, ...ends }: Properties) {
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
