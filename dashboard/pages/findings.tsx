import { Page } from "../components/page.tsx";
import { place } from "../router.ts";
import { count } from "../text/words.ts";
import { filtersOf } from "./findings/filters.ts";
import { FindingList, useFindings } from "./findings/list.tsx";

export function FindingsPage() {
  const filters = filtersOf(place.value.query);
  const data = useFindings(filters);
  const { value } = data;
  return (
    <Page
      title="Findings"
      about={
        value &&
        `${count(value.unacknowledged, "is open", "are open")} · ${count(value.total, "matches", "match")}`
      }
    >
      <FindingList filters={filters} data={data} />
    </Page>
  );
}
