import { call } from "../api/client.ts";
import type { FoundBreach } from "../api/routes.ts";
import { memberChoices } from "../components/choices.ts";
import { Filter, FilterBar, OrderFilter } from "../components/filter.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Name } from "../components/name.tsx";
import { Empty, NoMatch } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { foundIn, Search } from "../components/search.tsx";
import { severityChoices, severityColumn } from "../components/severity.tsx";
import type { Column } from "../components/table.tsx";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { place } from "../router.ts";
import { count, number } from "../text/words.ts";
import { assignKey, nobody } from "./breaches/assignee.tsx";
import { BreachName, exposedBy } from "./findings/columns.tsx";

const states = [
  { value: "open", label: "Open" },
  { value: "handled", label: "Handled" },
];

const assigneeChoices = async () => [{ value: "me", label: "Me" }, nobody, ...(await memberChoices())];

/** What to call the chosen assignee before the members are loaded. */
const assigneeLabels: Record<string, string> = { me: "Me", none: nobody.label };

const orders = [{ value: "open", label: "Most open" }];

export function BreachesPage() {
  const { state, severity, q, assignee, order } = place.value.query;
  const filters = { state, severity, q, assignee, order };
  const data = usePage(filters, (query, signal) => call("GET /dashboard/breaches", { query }, { signal }));
  const hasFilters = [state, severity, q, assignee].some((value) => value !== undefined);
  return (
    <Page
      title="Breaches"
      about={
        data.value &&
        (hasFilters
          ? count(data.value.total, "breach matches", "breaches match")
          : count(data.value.total, "breach", "breaches"))
      }
    >
      <FilterBar>
        <Search hint="Name or domain" results={foundIn(data, "/breaches", data.value?.breaches ?? [])} />
        <Filter label="State" name="state" choices={states} />
        <Filter label="Severity" name="severity" choices={severityChoices} />
        <Filter
          label="Assignee"
          name="assignee"
          choices={assigneeChoices}
          chosenLabel={assigneeLabels[assignee ?? ""]}
        />
        <OrderFilter orders={orders} />
      </FilterBar>
      <Listing
        what="breaches"
        data={data}
        rowsOf={({ breaches }) => breaches}
        columns={columns}
        empty={
          hasFilters ? (
            <NoMatch title="No breach matches these filters." path="/breaches" all="Show all breaches" />
          ) : (
            <Empty title="There are no breaches.">
              A breach is listed here once a scan finds an address of your domains in it.
            </Empty>
          )
        }
      />
    </Page>
  );
}

const columns: Column<FoundBreach>[] = [
  severityColumn,
  {
    name: "Breach",
    kind: "main",
    cell: (breach) => <BreachName breach={breach} href={addressOf(`/breaches/${breach.id}`)} />,
  },
  { name: "Exposed", cell: exposedBy },
  { name: "Open", kind: "number", width: "word", cell: ({ open }) => number(open) },
  {
    name: "Acknowledged",
    kind: "number",
    width: "time",
    isMinor: true,
    cell: ({ acknowledged }) => number(acknowledged),
  },
  { name: "Not watched", kind: "number", width: "time", cell: ({ unwatched }) => number(unwatched) },
  {
    name: "Assignee",
    width: "name",
    cell: ({ id, assignee, comments }) => (
      <>
        {assignKey({ breachId: String(id), assignee })}
        {Name({ text: assignee?.label ?? null })}
        {comments > 0 && <small> {count(comments, "comment")}</small>}
      </>
    ),
  },
  {
    name: "Newest finding",
    width: "time",
    isMinor: true,
    cell: ({ lastDetectedAt }) => <When time={lastDetectedAt} />,
  },
];
