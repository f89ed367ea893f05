import { call } from "../api/client.ts";
import type { Reply } from "../api/routes.ts";
import { Filter } from "../components/filter.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Empty, NoMatch } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import type { Column } from "../components/table.tsx";
import { When } from "../components/when.tsx";
import { place } from "../router.ts";

type Entry = Reply<"GET /v1/activity">["activity"][number];

const categories: Record<Entry["category"], string> = {
  monitoring: "Monitoring",
  findings: "Findings",
  alerts: "Alerts",
  teams: "Teams",
  api_keys: "API keys",
};
/** What a label does not say: those of users are addresses. */
const actors: Partial<Record<Entry["actor"]["type"], string>> = {
  api_key: "API key",
  system: "System",
  removed: "Former member",
  support: "Support",
};

export function ActivityPage() {
  const { category } = place.value.query;
  const data = usePage({ category }, (query, signal) => call("GET /v1/activity", { query }, { signal }));
  return (
    <Page title="Activity">
      <p class="prose">Who did what in the last 365 days.</p>
      <div class="filters">
        <Filter
          label="Category"
          name="category"
          choices={Object.entries(categories).map(([value, label]) => ({ value, label }))}
        />
      </div>
      <Listing
        what="activity"
        data={data}
        rowsOf={({ activity }) => activity}
        columns={columns}
        empty={
          category === undefined ? (
            <Empty title="There is no activity yet.">
              What members, API keys and the service itself do is listed here.
            </Empty>
          ) : (
            <NoMatch title="There is no activity in this category." path="/activity" all="Show everything" />
          )
        }
      />
    </Page>
  );
}

const columns: Column<Entry>[] = [
  {
    name: "What",
    kind: "main",
    width: "rest",
    cell: ({ summary }) => <span dir="auto">{summary}</span>,
  },
  { name: "Category", width: "time", cell: ({ category }) => categories[category] },
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
