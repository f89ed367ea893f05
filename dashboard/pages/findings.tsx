import { Page } from "../components/page.tsx";
import { place } from "../router.ts";
import { count, number } from "../text/words.ts";
import { filtersOf, openOnes } from "./findings/filters.ts";
import { FindingList, useFindings } from "./findings/list.tsx";

export function FindingsPage() {
  const filters = filtersOf(place.value.query);
  const data = useFindings(filters);
  const { value } = data;
  const isAllOpen = filters.acknowledged === openOnes && Object.keys(filters).length === 1;
  return (
    <Page
      title="Findings"
      about={
        value &&
        (isAllOpen
          ? `${number(value.total)} open`
          : `${count(value.total, "matches", "match")}, ${number(value.unacknowledged)} open in all`)
      }
    >
      <FindingList filters={filters} data={data} />
    </Page>
  );
}
