import { allPages } from "../api/all-pages.ts";
import { call } from "../api/client.ts";
import type { Reply } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { memberChoices } from "../components/choices.ts";
import { useDialog } from "../components/dialog.tsx";
import { type CsvColumns, ExportDialog } from "../components/export.tsx";
import type { Choice } from "../components/field.tsx";
import { DayFilter, Filter, FilterBar } from "../components/filter.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Empty, NoMatch } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { Search } from "../components/search.tsx";
import type { Column } from "../components/table.tsx";
import { When } from "../components/when.tsx";
import type { Query } from "../place.ts";
import { place } from "../router.ts";
import { beginOf, exactTime } from "../text/dates.ts";
import { number } from "../text/words.ts";

type Entry = Reply<"GET /v1/activity">["activity"][number];

const categories: Record<Entry["category"], string> = {
  monitoring: "Monitoring",
  findings: "Findings",
  alerts: "Alerts",
  teams: "Members, teams",
  api_keys: "API keys",
};
/** What a label does not say: those of users are addresses. */
const actors: Partial<Record<Entry["actor"]["type"], string>> = {
  api_key: "API key",
  system: "System",
  removed: "Former member",
  support: "Support",
};

/** Who is no member, by the words of the service. */
const otherActors: Choice[] = [
  { value: "api_key", label: "API keys" },
  { value: "system", label: "The service and its operator" },
  { value: "removed", label: "Former members" },
  { value: "support", label: "Support" },
];

const actorChoices = async (): Promise<Choice[]> => [...(await memberChoices()), ...otherActors];

/** The filters as the service has them: it takes instants, and the URL has days. It refuses other categories. */
function filtersOf({ category, actor, from, to, q }: Query) {
  return {
    ...(category !== undefined && { category: category as Entry["category"] }),
    ...(actor !== undefined && { actor }),
    ...(from !== undefined && { from: beginOf(from) ?? from }),
    ...(to !== undefined && { to: beginOf(to, 1) ?? to }),
    ...(q !== undefined && { q }),
  };
}

export function ActivityPage() {
  const filters = filtersOf(place.value.query);
  const data = usePage(filters, (query, signal) => call("GET /v1/activity", { query }, { signal }));
  const { dialog, show } = useDialog();
  const { total = 0, searchedSince = null } = data.value ?? {};
  const known = otherActors.find(({ value }) => value === filters.actor)?.label;
  return (
    <Page title="Activity">
      <p class="prose">Who did what in the last 365 days.</p>
      <FilterBar>
        <Search hint="What or who" results={data.isLoading || data.failure !== undefined ? undefined : []} />
        <Filter
          label="Category"
          name="category"
          choices={Object.entries(categories).map(([value, label]) => ({ value, label }))}
        />
        <Filter label="Who" name="actor" choices={actorChoices} chosenLabel={known ?? "One member"} />
        <DayFilter label="From" name="from" />
        <DayFilter label="To" name="to" />
        <span class="space" />
        <Button
          kind="quiet"
          disabled={total === 0}
          onClick={() => show(({ onClose }) => <ExportActivity filters={filters} onClose={onClose} />)}
        >
          Export CSV
        </Button>
      </FilterBar>
      {searchedSince !== null && (
        <p role="status">
          Only entries since {exactTime(Date.parse(searchedSince))} were searched. To search older ones,
          choose an earlier day under To.
        </p>
      )}
      <Listing
        what="activity"
        data={data}
        rowsOf={({ activity }) => activity}
        columns={columns}
        empty={
          Object.keys(filters).length === 0 ? (
            <Empty title="There is no activity yet.">
              What members, API keys and the service itself do is listed here.
            </Empty>
          ) : (
            <NoMatch title="No activity matches these filters." path="/activity" all="Show everything" />
          )
        }
      />
      {dialog}
    </Page>
  );
}

const csvColumns: CsvColumns<Entry> = [
  ["id", ({ id }) => id],
  ["at", ({ createdAt }) => createdAt],
  ["category", ({ category }) => category],
  ["action", ({ action }) => action],
  ["summary", ({ summary }) => summary],
  ["actor_type", ({ actor }) => actor.type],
  ["actor", ({ actor }) => actor.label],
];

type ExportProps = { filters: ReturnType<typeof filtersOf>; onClose: () => void };

const ExportActivity = ({ filters, onClose }: ExportProps) => (
  <ExportDialog
    what="activity"
    columns={csvColumns}
    pagesOf={(signal) =>
      allPages("activity", (page) => call("GET /v1/activity", { query: { ...filters, ...page } }, { signal }))
    }
    record={(rows, signal) =>
      call("POST /dashboard/exports", { body: { list: "activity", filter: filters, rows } }, { signal })
    }
    counted={(rows) => (rows === 1 ? "1 entry" : `${number(rows)} entries`)}
    onClose={onClose}
  />
);

const columns: Column<Entry>[] = [
  {
    name: "What",
    kind: "main",
    width: "rest",
    cell: ({ summary }) => (
      <span dir="auto" class="whole">
        {summary}
      </span>
    ),
  },
  { name: "Category", width: "name", cell: ({ category }) => categories[category] },
  {
    name: "Who",
    width: "name",
    cell: ({ actor }) => {
      const kind = actors[actor.type];
      return (
        <>
          <bdi>{actor.label}</bdi>
          {kind !== undefined && kind.toLowerCase() !== actor.label.toLowerCase() && <small>{kind}</small>}
        </>
      );
    },
  },
  { name: "When", width: "time", cell: ({ createdAt }) => <When time={createdAt} /> },
];
