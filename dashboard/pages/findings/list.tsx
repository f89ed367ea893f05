import { useMemo } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Finding, Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { breachChoices, domainChoices, scanChoices } from "../../components/choices.ts";
import { useDialog } from "../../components/dialog.tsx";
import { Filter, FilterBar, OrderFilter } from "../../components/filter.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, NoMatch } from "../../components/notice.tsx";
import { severityChoices } from "../../components/severity.tsx";
import type { Data } from "../../components/use-data.ts";
import { addressOf } from "../../place.ts";
import { leaveOver, openOver, place, setQuery, turnOver } from "../../router.ts";
import { enderChoices } from "../../text/rules.ts";
import { number } from "../../text/words.ts";
import { columns } from "./columns.tsx";
import { FindingDetails } from "./details.tsx";
import { ExportFindings } from "./dialogs.ts";
import { anyState, type Filters, namesOf, openOnes } from "./filters.ts";
import { useHandling } from "./handling.tsx";

const states = [
  { value: "true", label: "Acknowledged" },
  { value: anyState, label: "Any" },
];

const toldChoices = [
  { value: "false", label: "Not told" },
  { value: "true", label: "Told" },
];

/** Of all that match. */
const stateNames: Record<string, string> = { true: "acknowledged", false: "open", [anyState]: "in all" };

type FindingsReply = Reply<"GET /dashboard/findings">;

export const useFindings = (filters: Filters): Data<FindingsReply> => {
  const { order = "severity" } = place.value.query;
  return usePage({ ...filters, order }, (query, signal) =>
    call("GET /dashboard/findings", { query }, { signal }),
  );
};

type ListProps = {
  filters: Filters;
  data: Data<FindingsReply>;
  /** Of a list in which all are of one breach. */
  heading?: string;
};

export function FindingList({ filters, data, heading }: ListProps) {
  const { value, reload } = data;
  const shown = value?.findings ?? [];
  const names = namesOf(value ?? { findings: [] });
  const total = value?.total ?? 0;
  const isOpen = filters.acknowledged === openOnes;
  const { column, bar, dialog, failure } = useHandling({ shown, filters, total, reload });
  const { dialog: exported, show } = useDialog();
  const at = shown.findIndex(({ id }) => String(id) === place.value.query.finding);
  const [before, details, after] = [shown[at - 1], shown[at], at < 0 ? undefined : shown[at + 1]];
  const { offset } = place.value.query;
  const closeDetails = (): void => {
    leaveOver({ finding: undefined, offset });
    // Once the dialog is gone, which gives the focus back to where it came from.
    setTimeout(() => document.getElementById(`finding-${details?.id}`)?.focus());
  };
  const turnTo = ({ id }: Finding): void => turnOver({ finding: id, offset });
  /** From a finding that may leave the list to the next one. */
  const goOn = (): void => {
    const next = after ?? before;
    if (next === undefined) closeDetails();
    else turnTo(next);
  };
  const isOfBreach = heading !== undefined;
  const hasLogins = shown.some(({ stealerLogDomains }) => stealerLogDomains !== undefined);
  const shownColumns = useMemo(
    () => [
      column,
      ...columns(({ id }) => openOver({ finding: id, offset: place.value.query.offset }), {
        isOfBreach,
        isOpen,
        hasLogins,
      }),
    ],
    [column, isOfBreach, isOpen, hasLogins],
  );
  return (
    <>
      <FilterBar>
        {isOfBreach && (
          <>
            <h2>{heading}</h2>
            {value && (
              <span class="muted">
                {number(total)} {stateNames[filters.acknowledged ?? anyState]}
              </span>
            )}
            <span class="space" />
          </>
        )}
        {!filters.endedBy && (
          <Filter
            label="State"
            name="acknowledged"
            choices={states}
            none={{ value: openOnes, label: "Open" }}
          />
        )}
        {!isOfBreach && (
          <>
            <Filter label="Severity" name="severity" choices={severityChoices} />
            <Filter label="Breach" name="breachId" choices={breachChoices} chosenLabel={names.breach} />
          </>
        )}
        <Filter label="Domain" name="domainId" choices={domainChoices} chosenLabel={names.domain} />
        <Filter label="Scan" name="scanId" choices={scanChoices} chosenLabel={names.scan} />
        <Filter label="Owner" name="told" choices={toldChoices} />
        {filters.acknowledged !== openOnes && (
          <Filter label="Ended by" name="endedBy" choices={enderChoices} />
        )}
        {/* Findings of one breach have one severity. */}
        {!isOfBreach && <OrderFilter />}
        {filters.emailId !== undefined && (
          <Button kind="quiet" onClick={() => setQuery({ emailId: undefined })}>
            Only {names.email === undefined ? "one address" : <bdi>{names.email}</bdi>}: show all
          </Button>
        )}
        {!isOfBreach && <span class="space" />}
        <Button
          kind="quiet"
          disabled={total === 0}
          onClick={() => show(({ onClose }) => <ExportFindings filters={filters} onClose={onClose} />)}
        >
          Export CSV
        </Button>
      </FilterBar>
      {bar}
      {failure}
      <Listing
        what="findings"
        data={data}
        rowsOf={({ findings }) => findings}
        columns={shownColumns}
        empty={<NoFindings filters={filters} handled={value?.handled} />}
      />
      {details !== undefined && (
        <FindingDetails
          key={details.id}
          finding={details}
          onClose={closeDetails}
          onHandled={goOn}
          {...(before !== undefined && { onPrevious: () => turnTo(before) })}
          {...(after !== undefined && { onNext: () => turnTo(after) })}
        />
      )}
      {exported}
      {dialog}
    </>
  );
}

/** Why there is nothing: all of it was handled, the filters leave nothing, or nothing was found at all. */
function NoFindings({ filters, handled = 0 }: { filters: Filters; handled: number | undefined }) {
  const { acknowledged, ...filtersButState } = filters;
  if (handled > 0) {
    return (
      <NoMatch
        title={handled === 1 ? "The only one is handled." : `All ${number(handled)} handled.`}
        path="/findings"
        query={{ ...filtersButState, acknowledged: true }}
        all="Show what was handled"
      />
    );
  }
  if (Object.keys(filtersButState).length > 0 || acknowledged === "true") {
    return (
      <NoMatch
        title="No finding matches these filters."
        path="/findings"
        query={{ acknowledged: anyState }}
        all="Show all findings"
      />
    );
  }
  return (
    <Empty title="There are no findings.">
      Each appearance of a watched address in a breach is a finding.{" "}
      <a href={addressOf("/scans")}>Start a scan</a> to look for them, or{" "}
      <a href={addressOf("/emails")}>add addresses</a>.
    </Empty>
  );
}
