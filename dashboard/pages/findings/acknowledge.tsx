import { call } from "../../api/client.ts";
import type { Show } from "../../components/dialog.tsx";
import { say } from "../../components/status.tsx";
import { doWithUndo, sayWithUndo } from "../../components/undo.ts";
import { session } from "../../session.ts";
import { count } from "../../text/words.ts";
import { AcknowledgeDialog } from "./dialogs.ts";
import { change, type Selection, undo } from "./requests.ts";

/** So many are not acknowledged or reopened by mistake: whoever does it says why. */
export const mostWithoutReason = 100;

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
export const onlyOf = ({ total, filter: { ids } }: Selection): number | undefined =>
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

export function offerUndo(selection: Selection, done: number, acknowledgedAt?: string): void {
  if (selection.isOpen) sayWithUndo(acknowledged(done), undoing(selection, acknowledgedAt), undoWords);
  else say(acknowledged(done));
}
