/** What the lists of breached addresses that nobody watches share: columns, a selection, Watch and Ignore. */
import { allPages } from "../../api/all-pages.ts";
import { call, serviceTime } from "../../api/client.ts";
import type { ImportPlan, Input, Reply, Unwatched } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { type Ends, FormDialog, useDialog } from "../../components/dialog.tsx";
import { FailureNotice, Pending } from "../../components/notice.tsx";
import { SelectionBar, useSelection } from "../../components/selection.tsx";
import { type Severity, severityColumn } from "../../components/severity.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { doWithUndo } from "../../components/undo.ts";
import { useAction } from "../../components/use-action.ts";
import { type Data, reloadAll, useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses, number } from "../../text/words.ts";
import { Quote } from "../emails/plan.tsx";

/** A request names at most so many, and so many are watched at once. */
const mostChosen = 500;

/** So many are not ignored by mistake. */
const mostUnasked = 100;

export type Filters = Partial<
  Record<"q" | "breachId" | "domainId" | "severity" | "ignored", string | undefined>
>;

type Choice = Omit<Input<"POST /dashboard/unwatched/ignore">["body"], "ignored">;

/** The filters for the body of a request. What is new of an address since then has to be seen first. */
const bodyOf = ({ q, breachId, domainId, severity }: Filters): Choice["filter"] => ({
  ...(q !== undefined && { q }),
  ...(breachId !== undefined && { breachId: Number(breachId) }),
  ...(domainId !== undefined && { domainId: Number(domainId) }),
  ...(severity !== undefined && { severity: severity.split(",") as Severity[] }),
  newBefore: serviceTime().toISOString(),
});

/** @throws Failure */
async function stopIgnoring(
  choice: Pick<Input<"POST /dashboard/unwatched/ignore">["body"], "ids" | "filter">,
) {
  const body = { ...choice, ignored: false };
  const { changed } = await call("POST /dashboard/unwatched/ignore", { body });
  return `${addresses(changed)} no longer ignored.`;
}

const ignore = (choice: Choice): Promise<boolean> =>
  doWithUndo(
    async () => {
      const body = { ...choice, ignored: true };
      const { changed, at } = await call("POST /dashboard/unwatched/ignore", { body });
      const undo = () => stopIgnoring({ filter: { ignoredAt: at } });
      return { done: `Ignored ${addresses(changed)}.`, undo };
    },
    {
      begin: "Ignoring …",
      notDone: "Not all of them are ignored",
      doing: "Taking them back …",
      failed: "They are still ignored",
    },
  );

/** The ids of all that match. */
async function matchingIds(filters: Filters): Promise<number[]> {
  const ids: number[] = [];
  const pages = allPages("addresses", (page) =>
    call("GET /dashboard/unwatched", { query: { ...filters, ...page } }),
  );
  for await (const { rows } of pages) ids.push(...rows.map(({ id }) => id));
  return ids;
}

/** A selection of these addresses, with what can be done with it. */
export function useUnwatched(filters: Filters, data: Data<Reply<"GET /dashboard/unwatched">>) {
  const shown = data.value?.addresses ?? [];
  const total = data.value?.total ?? 0;
  const isIgnored = filters.ignored === "true";
  const { column, chosen, isAll, selectAll, clear, restore } = useSelection({
    shown,
    labelOf: ({ email }) => `Select ${email}`,
    most: mostChosen,
    belongsTo: JSON.stringify(filters),
  });
  const selected = isAll ? total : chosen.size;
  const action = useAction();
  const done = (): void => {
    clear();
    reloadAll();
  };
  const { dialog, show } = useDialog(done);
  /** Until the list of these filters is there, nobody knows whether so many match that the page has to ask. */
  const selectMatching = (): void =>
    data.isLoading || data.failure !== undefined ? say("The list is not loaded yet.") : selectAll();
  const ignoreChosen = (): void => {
    const choice = isAll ? { filter: bodyOf(filters) } : { ids: [...chosen] };
    if (isIgnored) {
      void action.run(async () => say(await stopIgnoring(choice))).then((isDone) => isDone && done());
    } else if (selected > mostUnasked) {
      show((ends) => <IgnoreDialog {...ends} choice={choice} total={selected} />);
    } else {
      const ignoring = ignore(choice);
      // At once, so that the next row can be ignored meanwhile.
      clear();
      void ignoring.then((isDone) => isDone || restore());
    }
  };
  const watchChosen = (): void => {
    if (selected > mostChosen) {
      say(`At most ${number(mostChosen)} can be watched at once.`);
      return;
    }
    void action.run(async () => {
      const ids = isAll ? await matchingIds(filters) : [...chosen];
      show((ends) => <WatchDialog {...ends} ids={ids} />);
    });
  };
  const bar = shown.length > 0 && (
    <SelectionBar selected={selected} total={total} {...(!isAll && { onAll: selectMatching })} onNone={clear}>
      <Button aria-keyshortcuts="i" isBusy={action.isBusy} onClick={ignoreChosen}>
        {isIgnored ? "Stop ignoring" : "Ignore"}
      </Button>
      <Button kind="primary" aria-keyshortcuts="w" isBusy={action.isBusy} onClick={watchChosen}>
        Watch
      </Button>
    </SelectionBar>
  );
  return { column, bar, dialog, failure: <FailureNotice failure={action.failure} /> };
}

export const columns: Column<Unwatched>[] = [
  severityColumn,
  {
    name: "Address",
    kind: "main",
    width: "rest",
    cell: ({ email }) => <bdi title={email}>{inBothForms(email)}</bdi>,
  },
  {
    name: "Breaches",
    cell: ({ breaches, breachCount }) => {
      const titles = breaches.map(({ title }) => title).join(", ");
      const more = breachCount - breaches.length;
      return (
        <span class="tailed" title={titles}>
          <span>{titles}</span> {more > 0 && <small>and {more} more</small>}
        </span>
      );
    },
  },
  { name: "Newest breach", width: "time", cell: ({ lastNewAt }) => <When time={lastNewAt} /> },
];

function IgnoreDialog({ choice, total, ...ends }: Ends & { choice: Choice; total: number }) {
  const act = async (): Promise<undefined> => {
    void ignore(choice);
  };
  return (
    <FormDialog {...ends} title={`Ignore ${addresses(total)}?`} submit="Ignore" onSubmit={act}>
      <p>
        They leave the list, on every page. One comes back when a later breach of high severity or above names
        it.
      </p>
    </FormDialog>
  );
}

/** Says what it costs before it adds the addresses. */
function WatchDialog({ ids, ...ends }: Ends & { ids: readonly number[] }) {
  const body = { ids: [...ids] };
  const price = useData("", (signal) =>
    call("POST /dashboard/unwatched/watch", { body: { ...body, dryRun: true } }, { signal }),
  );
  const watch = async (): Promise<string> => {
    const { addedCount, disabledCount } = await call("POST /dashboard/unwatched/watch", { body });
    if (addedCount === 0) return "All of them were watched already.";
    const disabled = disabledCount > 0 ? `, ${number(disabledCount)} of them disabled` : "";
    return `Added ${addresses(addedCount)}${disabled}. Findings follow with the next scan.`;
  };
  // A dry run answers with the price instead.
  const plan = price.value as unknown as Pick<ImportPlan, "quote"> | undefined;
  return (
    <FormDialog
      {...ends}
      title={`Watch ${addresses(ids.length)}`}
      submit="Watch"
      isIdle={plan === undefined}
      onSubmit={watch}
    >
      <Pending data={price} what="the price" />
      {plan && <Quote plan={plan} />}
    </FormDialog>
  );
}
