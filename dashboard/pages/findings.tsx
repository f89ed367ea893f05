import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Finding } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { breachChoices, domainChoices, scanChoices } from "../components/choices.ts";
import { Filter } from "../components/filter.tsx";
import { Listing } from "../components/listing.tsx";
import { Empty } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { pageSize } from "../components/pager.tsx";
import { useData } from "../components/use-data.ts";
import { addressOf } from "../place.ts";
import { place, setQuery } from "../router.ts";
import { count, number } from "../text/words.ts";
import { AcknowledgeDialog, type Selection } from "./findings/acknowledge.tsx";
import { columns } from "./findings/columns.tsx";
import { FindingDetails } from "./findings/details.tsx";
import { ExportDialog } from "./findings/export.tsx";
import { type Filters, filtersOf } from "./findings/filters.ts";

const states = [
  { value: "false", label: "Open" },
  { value: "true", label: "Acknowledged" },
];

export function FindingsPage() {
  const { query } = place.value;
  const filters = filtersOf(query);
  const data = useData(JSON.stringify([filters, query.offset]), (signal) =>
    call(
      "GET /dashboard/findings",
      { query: { ...filters, limit: pageSize, offset: query.offset } },
      { signal },
    ),
  );
  const { value } = data;
  return (
    <Page
      title="Findings"
      about={
        value &&
        `${count(value.unacknowledged, "is open", "are open")} · ${count(value.total, "matches", "match")}`
      }
    >
      {/* What is selected belongs to the filters, not to a page of the list. */}
      <FindingList key={JSON.stringify(filters)} filters={filters} data={data} />
    </Page>
  );
}

type ListProps = { filters: Filters; data: ReturnType<typeof useData<FindingsReply>> };
type FindingsReply = { findings: Finding[]; total: number; unacknowledged: number };

function FindingList({ filters, data }: ListProps) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [isAll, setAll] = useState(false);
  const [open, setOpen] = useState<"acknowledge" | "export">();
  const { value, reload } = data;
  const shown = value?.findings ?? [];
  const total = value?.total ?? 0;
  const selection: Selection = isAll
    ? { kind: "matching", filters, total }
    : { kind: "ids", ids: [...chosen] };
  const clear = (): void => {
    setChosen(new Set());
    setAll(false);
  };
  const details = shown.find(({ id }) => String(id) === place.value.query.finding);
  return (
    <>
      <div class="filters">
        <Filter label="State" name="acknowledged" choices={states} />
        <Filter label="Breach" name="breachId" choices={breachChoices} chosenLabel={shown[0]?.breach.title} />
        <Filter label="Scan" name="scanId" choices={scanChoices} />
        <Filter
          label="Domain"
          name="domainId"
          choices={domainChoices}
          chosenLabel={domainOf(shown[0]?.email)}
        />
        {filters.emailId !== undefined && (
          <Button kind="quiet" onClick={() => setQuery({ emailId: undefined })}>
            Only {shown[0]?.email ?? "one address"}: show all
          </Button>
        )}
        <span class="space" />
        <Button disabled={total === 0} onClick={() => setOpen("export")}>
          Export CSV
        </Button>
      </div>
      {total > 0 && (
        <SelectionBar
          selected={isAll ? total : chosen.size}
          total={total}
          isAll={isAll}
          onAll={() => setAll(true)}
          onNone={clear}
          onAcknowledge={() => setOpen("acknowledge")}
        />
      )}
      <Listing
        what="findings"
        data={data}
        rowsOf={({ findings }) => findings}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns({
          chosen,
          isAll,
          shown,
          setChosen,
          onOpen: ({ id }) => setQuery({ finding: id, offset: place.value.query.offset }),
        })}
        empty={<NoFindings hasFilters={Object.keys(filters).length > 0} />}
      />
      {details !== undefined && (
        <FindingDetails
          finding={details}
          onClose={() => setQuery({ finding: undefined, offset: place.value.query.offset })}
          onChanged={reload}
        />
      )}
      {open === "acknowledge" && (
        <AcknowledgeDialog
          selection={selection}
          onClose={() => setOpen(undefined)}
          onDone={() => {
            clear();
            reload();
          }}
        />
      )}
      {open === "export" && <ExportDialog filters={filters} onClose={() => setOpen(undefined)} />}
    </>
  );
}

const domainOf = (email: string | undefined): string | undefined => email?.slice(email.lastIndexOf("@") + 1);

type BarProps = {
  selected: number;
  total: number;
  isAll: boolean;
  onAll: () => void;
  onNone: () => void;
  onAcknowledge: () => void;
};

function SelectionBar({ selected, total, isAll, onAll, onNone, onAcknowledge }: BarProps) {
  return (
    <fieldset class="selection" aria-label="Selection">
      <strong role="status">{selected === 0 ? "None selected" : `${number(selected)} selected`}</strong>
      {isAll || <Button kind="quiet" onClick={onAll}>{`Select all matching (${number(total)})`}</Button>}
      {selected > 0 && (
        <Button kind="quiet" onClick={onNone}>
          Select none
        </Button>
      )}
      <span class="space" />
      <Button kind="primary" disabled={selected === 0} onClick={onAcknowledge}>
        Acknowledge
      </Button>
    </fieldset>
  );
}

function NoFindings({ hasFilters }: { hasFilters: boolean }) {
  if (hasFilters) {
    return (
      <Empty title="No finding matches these filters.">
        <p>
          <a href={addressOf("/findings")}>Show all findings</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="There are no findings.">
      <p>
        Each appearance of a watched address in a breach is a finding.{" "}
        <a href={addressOf("/scans")}>Start a scan</a> to look for them, or{" "}
        <a href={addressOf("/emails")}>add addresses</a>.
      </p>
    </Empty>
  );
}
