import { useRef, useState } from "preact/hooks";
import { asFailure } from "../../api/client.ts";
import type { Ends } from "../../components/dialog.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { addresses, number } from "../../text/words.ts";
import { billingNow, commitPart, preview, previewPart } from "./parts.ts";
import { type Preview, summaryOf } from "./summary.ts";

/** The plan of the parts that remain. `hasChanged`: the import would do something else than was previewed. */
type Remaining = { plan: Preview; hasChanged: boolean };

/** A file, what its import would do, and the import, part after part. */
export function useImport({ onClose, onDone }: Ends) {
  const [{ file, choices }, setChosen] = useState<{ file?: File | undefined; choices: number }>({
    choices: 0,
  });
  const [remaining, setRemaining] = useState<Remaining>();
  const [progress, setProgress] = useState({ done: 0, total: 0 });
  const [leavesOut, setLeavesOut] = useState(false);
  const isStopped = useRef(false);
  const action = useAction();
  // Each choice counts: the same file may have changed.
  const read = useData(
    String(choices),
    async (signal) => file && preview(file, (done, total) => setProgress({ done, total }), signal),
  );
  const isRead = !read.isLoading && read.failure === undefined;
  const plan = isRead ? (remaining?.plan ?? read.value) : undefined;

  const choose = (chosen: File | undefined): void => {
    setChosen({ file: chosen, choices: choices + 1 });
    setRemaining(undefined);
    setLeavesOut(false);
    action.clear();
  };

  /** Shows a plan anew. Only its first part is imported as it was previewed. */
  const showAnew = async (of: Preview, leavesOut: boolean, hasChanged: boolean): Promise<void> => {
    for (const part of of.parts.slice(0, 1)) part.plan = await previewPart(part.file, leavesOut);
    const summary = summaryOf(of.parts, await billingNow(), leavesOut);
    setRemaining({ plan: { ...of, ...summary }, hasChanged });
  };

  const leaveOut = async (isLeftOut: boolean): Promise<void> => {
    if (plan === undefined) return;
    setLeavesOut(isLeftOut);
    const isShown = await action.run(() => showAnew(plan, isLeftOut, remaining?.hasChanged ?? false));
    if (!isShown) setLeavesOut(!isLeftOut);
  };

  /** Each part as a whole. After the first, each has another price. */
  const commitAll = async (whole: Preview): Promise<void> => {
    const { parts } = whole;
    const sum = { imported: 0, disabled: 0 };
    for (const [index, part] of parts.entries()) {
      setProgress({ done: index, total: parts.length });
      if (isStopped.current) break;
      try {
        if (index > 0) part.plan = await previewPart(part.file, leavesOut);
        const done = await commitPart(part);
        sum.imported += done.imported;
        sum.disabled += done.disabled;
      } catch (error) {
        return await showRemaining(whole, index, sum, error);
      } finally {
        if (sum.imported > 0) onDone();
      }
    }
    say(outcomeOf(sum, isStopped.current));
    onClose();
  };

  /**
   * What is imported is not asked for again. The new price of the other parts is shown: people agree to what they see.
   */
  const showRemaining = async (whole: Preview, from: number, sum: Sum, error: unknown): Promise<void> => {
    const activeCount = whole.billing.activeCount + sum.imported - sum.disabled;
    const billing = { ...whole.billing, activeCount };
    const left = { ...whole, ...summaryOf(whole.parts.slice(from), billing, leavesOut) };
    if (["quote_mismatch", "nothing_to_import"].includes(asFailure(error).code ?? ""))
      return showAnew(left, leavesOut, true);
    setRemaining({ plan: left, hasChanged: false });
    throw error;
  };

  return {
    plan,
    action,
    progress,
    leavesOut,
    isReading: read.isLoading && file !== undefined,
    readFailure: read.isLoading ? undefined : read.failure,
    readAgain: read.reload,
    hasChanged: remaining?.hasChanged ?? false,
    choose,
    leaveOut,
    showAnew,
    commit: () => {
      isStopped.current = false;
      return action.run(async () => plan && commitAll(plan));
    },
    stop: () => {
      isStopped.current = true;
    },
  };
}

export type Import = ReturnType<typeof useImport>;

type Sum = { imported: number; disabled: number };

function outcomeOf({ imported, disabled }: Sum, isStopped: boolean): string {
  const off = disabled > 0 ? `, ${number(disabled)} of them disabled` : "";
  const left = isStopped ? " You stopped it: the other parts were not imported." : "";
  return `Imported ${addresses(imported)}${off}.${left}`;
}
