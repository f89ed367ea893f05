import { useRef } from "preact/hooks";
import type { Finding } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { SelectionBar, useSelection } from "../../components/selection.tsx";
import { useAction } from "../../components/use-action.ts";
import { acknowledge, ask } from "./acknowledge.tsx";
import { TellDialog } from "./dialogs.ts";
import { type Filters, openOnes } from "./filters.ts";
import { chosenOf, matchingOf } from "./requests.ts";

/** A request names at most so many findings by their ids. */
const mostChosen = 1000;

type Options = {
  shown: readonly Finding[];
  filters: Filters;
  /** How many match on all pages. Without it, only findings that are shown can be selected. */
  total?: number;
  reload: () => void;
};

/** A selection of findings, with the bar of what can be done with them. */
export function useHandling({ shown, filters, total, reload }: Options) {
  const { column, chosen, isAll, selectAll, clear, restore } = useSelection({
    shown,
    labelOf: ({ email, breach }) => `Select ${email} in ${breach.title}`,
    most: mostChosen,
    belongsTo: JSON.stringify(filters),
  });
  const selected = isAll ? (total ?? 0) : chosen.size;
  const { dialog, show } = useDialog(() => {
    clear();
    reload();
  });
  // Findings that are selected may be on other pages.
  const seen = useRef(new Map<number, Finding>());
  for (const finding of shown) seen.current.set(finding.id, finding);
  const chosenOnes = [...chosen].flatMap((id) => seen.current.get(id) ?? []);
  const asking = useAction();
  const selectionFor = (isReopening: boolean) =>
    isAll ? matchingOf(filters, isReopening) : chosenOf(chosenOnes, isReopening);
  const askFor = (isReopening: boolean): void =>
    void asking.run(() => ask(show, selectionFor(isReopening), isReopening));
  const acknowledgeAtOnce = (): void => {
    const done = acknowledge(show, selectionFor(false));
    // At once, so that the next row can be acknowledged meanwhile.
    clear();
    void done.then((isDone) => isDone || restore());
  };
  // What is not shown may be acknowledged, unless the filters say otherwise.
  const isReopenable =
    (isAll ? shown : chosenOnes).some(({ acknowledged }) => acknowledged) ||
    (isAll && filters.acknowledged !== openOnes && selected > shown.length);
  const bar = shown.length > 0 && (
    <SelectionBar
      selected={selected}
      {...(total !== undefined && { total, ...(!isAll && { onAll: selectAll }) })}
      onNone={clear}
    >
      <Button
        aria-keyshortcuts="t"
        onClick={() =>
          show((ends) => <TellDialog {...ends} of={isAll ? filters : chosenOnes} onDone={clear} />)
        }
      >
        {selected === 1 ? "Tell the owner" : "Tell the owners"}
      </Button>
      {isReopenable && (
        <Button isBusy={asking.isBusy} onClick={() => askFor(true)}>
          Reopen
        </Button>
      )}
      <Button aria-keyshortcuts="Shift+E" isBusy={asking.isBusy} onClick={() => askFor(false)}>
        With a reason
      </Button>
      <Button kind="primary" aria-keyshortcuts="e" onClick={acknowledgeAtOnce}>
        Acknowledge
      </Button>
    </SelectionBar>
  );
  return { column, bar, dialog, failure: <FailureNotice failure={asking.failure} /> };
}
