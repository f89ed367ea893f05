import { call } from "../../api/client.ts";
import type { ImportPlan, Unwatched } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { domainChoices } from "../../components/choices.ts";
import { type Ends, FormDialog, useDialog } from "../../components/dialog.tsx";
import { Filter, FilterBar, OrderFilter } from "../../components/filter.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, FailureNotice, Pending } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { SelectionBar, useSelection } from "../../components/selection.tsx";
import { severityChoices, severityColumn } from "../../components/severity.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { place } from "../../router.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses, number } from "../../text/words.ts";
import { Quote } from "../emails/plan.tsx";

/** A request names at most so many. */
const mostChosen = 500;

export function UnwatchedPage() {
  const { domainId, severity, ignored = "false", order = "severity" } = place.value.query;
  const filters = { domainId, severity, ignored };
  const data = usePage({ ...filters, order }, (query, signal) =>
    call("GET /dashboard/unwatched", { query }, { signal }),
  );
  const outdated = data.value?.domains.filter(({ isCurrent }) => !isCurrent) ?? [];
  const shown = data.value?.addresses ?? [];
  const { column, chosen, clear } = useSelection({
    shown,
    labelOf: ({ email }) => `Select ${email}`,
    most: mostChosen,
    belongsTo: JSON.stringify(filters),
  });
  const action = useAction();
  const ids = [...chosen];
  const isIgnored = ignored === "true";
  const done = (): void => {
    clear();
    data.reload();
  };
  const { dialog, show } = useDialog(done);
  const ignore = (): void =>
    void action.run(async () => {
      await call("POST /dashboard/unwatched/ignore", { body: { ids, ignored: !isIgnored } });
      say(isIgnored ? `${addresses(ids.length)} no longer ignored.` : `Ignored ${addresses(ids.length)}.`);
      done();
    });
  return (
    <Page title="In breaches, not watched" about={data.value && addresses(data.value.total)}>
      <p class="prose">
        A domain search names every breached address of a domain. These were not watched at the last one: they
        cost nothing, and no alert names them. An address that is added elsewhere leaves the list with the
        next scan.
      </p>
      {outdated.map(({ id, name, asOf }) => (
        <p key={id} class="prose">
          <span>
            <bdi>{inBothForms(name)}</bdi> is no longer verified, or no longer searched whole: its list is
            from <When time={asOf} />, and says nothing of today.
          </span>
        </p>
      ))}
      <FilterBar>
        <Filter
          label="State"
          name="ignored"
          choices={[{ value: "true", label: "Ignored" }]}
          none={{ value: "false", label: "To decide" }}
        />
        <Filter label="Severity" name="severity" choices={severityChoices} />
        <Filter
          label="Domain"
          name="domainId"
          choices={domainChoices}
          chosenLabel={shown[0] && inBothForms(shown[0].domain.name)}
        />
        <OrderFilter />
      </FilterBar>
      <FailureNotice failure={action.failure} />
      {shown.length > 0 && (
        <SelectionBar selected={chosen.size} onNone={clear}>
          <Button isBusy={action.isBusy} onClick={ignore}>
            {isIgnored ? "Stop ignoring" : "Ignore"}
          </Button>
          <Button kind="primary" onClick={() => show((ends) => <WatchDialog {...ends} ids={ids} />)}>
            Watch
          </Button>
        </SelectionBar>
      )}
      <Listing
        what="addresses"
        data={data}
        rowsOf={({ addresses }) => addresses}
        columns={[column, ...columns]}
        empty={
          <Empty title={isIgnored ? "No address is ignored." : "There is nothing to decide."}>
            Breached addresses that nobody watches are listed here after a scan that searches their domain
            whole.
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}

const columns: Column<Unwatched>[] = [
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
  { name: "First seen", width: "time", cell: ({ firstSeenAt }) => <When time={firstSeenAt} /> },
];

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
