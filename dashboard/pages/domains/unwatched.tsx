import { call } from "../../api/client.ts";
import { domainChoices, unwatchedBreachChoices } from "../../components/choices.ts";
import { Filter, FilterBar, OrderFilter } from "../../components/filter.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, NoMatch } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { Search } from "../../components/search.tsx";
import { severityChoices } from "../../components/severity.tsx";
import { When } from "../../components/when.tsx";
import { place } from "../../router.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses } from "../../text/words.ts";
import { columns, useUnwatched } from "./unwatched-list.tsx";

export function UnwatchedPage() {
  const { q, breachId, domainId, severity, ignored = "false", order = "severity" } = place.value.query;
  const filters = { q, breachId, domainId, severity, ignored };
  const data = usePage({ ...filters, order }, (query, signal) =>
    call("GET /dashboard/unwatched", { query }, { signal }),
  );
  const outdated = data.value?.domains.filter(({ isCurrent }) => !isCurrent) ?? [];
  const [first] = data.value?.addresses ?? [];
  const { column, bar, dialog, failure } = useUnwatched(filters, data);
  const hasFilters = [q, breachId, domainId, severity].some((value) => value !== undefined);
  return (
    <Page title="In breaches, not watched" about={data.value && addresses(data.value.total)}>
      <p class="prose">
        A domain search names every breached address of a domain. These were not watched at the last one: they
        cost nothing, and alerts count them without naming them. An address that is added elsewhere leaves the
        list with the next scan. An ignored one comes back when a later breach of high severity or above names
        it.
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
        <Search hint="Address or domain" results={data.isLoading ? undefined : []} />
        <Filter
          label="State"
          name="ignored"
          choices={[{ value: "true", label: "Ignored" }]}
          none={{ value: "false", label: "To decide" }}
        />
        <Filter label="Severity" name="severity" choices={severityChoices} />
        <Filter
          label="Breach"
          name="breachId"
          choices={unwatchedBreachChoices}
          chosenLabel={first?.breaches.find(({ id }) => String(id) === breachId)?.title}
        />
        <Filter
          label="Domain"
          name="domainId"
          choices={domainChoices}
          chosenLabel={first && inBothForms(first.domain.name)}
        />
        <OrderFilter />
      </FilterBar>
      {failure}
      {bar}
      <Listing
        what="addresses"
        data={data}
        rowsOf={({ addresses }) => addresses}
        columns={[column, ...columns]}
        empty={
          hasFilters ? (
            <NoMatch
              title="No address matches these filters."
              path="/domains/unwatched"
              all="Show all addresses"
            />
          ) : (
            <Empty title={ignored === "true" ? "No address is ignored." : "There is nothing to decide."}>
              Breached addresses that nobody watches are listed here after a scan that searches their domain
              whole.
            </Empty>
          )
        }
      />
      {dialog}
    </Page>
  );
}
