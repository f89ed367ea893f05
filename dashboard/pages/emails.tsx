import { useMemo } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Email } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { domainChoices, teamChoices } from "../components/choices.ts";
import { type Show, useDialog } from "../components/dialog.tsx";
import { Filter, FilterBar } from "../components/filter.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Name } from "../components/name.tsx";
import { Empty, FailureNotice, NoMatch } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { foundIn, Search } from "../components/search.tsx";
import { SelectionBar, useSelection } from "../components/selection.tsx";
import { SeverityMark } from "../components/severity.tsx";
import { actionsColumn, type Column } from "../components/table.tsx";
import { useAction } from "../components/use-action.ts";
import { When } from "../components/when.tsx";
import { onDemand } from "../on-demand.tsx";
import { addressOf } from "../place.ts";
import { place } from "../router.ts";
import { inBothForms } from "../text/domain-name.ts";
import { addresses, count, number } from "../text/words.ts";
import { AddEmail } from "./emails/add.tsx";
import { enable, enableAll, mostChanged, RemoveEmail, RemoveEmails, TeamDialog } from "./emails/change.tsx";
import { EditEmail } from "./emails/edit.tsx";
import { withMarks } from "./emails/person-marks.tsx";
import { anyState } from "./findings/filters.ts";

const ExportEmails = onDemand(async () => (await import("./emails/export.tsx")).ExportEmails);
const ImportDialog = onDemand(async () => (await import("./emails/import.tsx")).ImportDialog);

const states = [
  { value: "true", label: "Enabled" },
  { value: "false", label: "Disabled" },
];

const sources = [
  { value: "directory", label: "A directory" },
  { value: "hand", label: "By hand" },
];

const stays = [
  { value: "true", label: "Left" },
  { value: "false", label: "Here" },
];

const exposures = [
  { value: "true", label: "With open findings" },
  { value: "false", label: "Without" },
];

const newest = { value: "newest", label: "Newest first" };
const orders = [{ value: "worst", label: "Most exposed first" }];

export function EmailsPage() {
  const { q, domainId, teamId, isActive, breached, left, order } = place.value.query;
  // The service refuses others, in words.
  const source = place.value.query.source as "directory" | "hand" | undefined;
  const filters = { q, domainId, teamId, isActive, breached, source, left };
  const listed = { ...filters, order };
  const data = usePage(listed, (query, signal) => call("GET /dashboard/emails", { query }, { signal }));
  const action = useAction();
  const { dialog, show } = useDialog(data.reload);
  const shown = data.value?.emails ?? [];
  const [first] = shown;
  const hasFilters = Object.values(filters).some((value) => value !== undefined);
  const { column, chosen, clear } = useSelection({
    shown,
    labelOf: ({ email }) => `Select ${email}`,
    most: mostChanged,
    belongsTo: JSON.stringify(filters),
  });
  const ids = [...chosen];
  const done = (): void => {
    clear();
    data.reload();
  };
  const ofChosen = useDialog(done);
  const enableChosen = (isOn: boolean): void =>
    void action.run(() => enableAll(ids, isOn, done)).then((isDone) => isDone && done());

  const enableOne = (email: Email, isOn: boolean) =>
    action.run(() => enable(email, isOn)).then((isDone) => isDone && data.reload());

  const shownColumns = useMemo(
    () => [column, ...columns(show, ofChosen.show, enableOne, action.isBusy)],
    [column, action.isBusy],
  );

  return (
    <Page
      title="E-mails"
      about={
        data.value &&
        (hasFilters
          ? count(data.value.total, "address matches", "addresses match")
          : addresses(data.value.total))
      }
      actions={
        <>
          <Button onClick={() => show((ends) => <ImportDialog {...ends} />)}>Import</Button>
          <Button kind="primary" onClick={() => show((ends) => <AddEmail {...ends} />)}>
            Add e-mail
          </Button>
        </>
      }
    >
      <FilterBar>
        <Search hint="Address or owner" results={foundIn(data, "/emails", shown)} />
        <Filter
          label="Domain"
          name="domainId"
          choices={domainChoices}
          chosenLabel={first && inBothForms(first.domain.name)}
        />
        <Filter label="Team" name="teamId" choices={teamChoices} chosenLabel={first?.team?.name} />
        <Filter label="State" name="isActive" choices={states} />
        <Filter label="Findings" name="breached" choices={exposures} />
        <Filter label="Source" name="source" choices={sources} />
        <Filter label="People" name="left" choices={stays} />
        <Filter label="Order" name="order" choices={orders} none={newest} />
        <span class="space" />
        <Button
          kind="quiet"
          disabled={data.value?.total === 0}
          onClick={() => show(({ onClose }) => <ExportEmails query={listed} onClose={onClose} />)}
        >
          Export CSV
        </Button>
      </FilterBar>
      <FailureNotice failure={action.failure} />
      {shown.length > 0 && (
        <SelectionBar selected={chosen.size} onNone={clear}>
          <Button onClick={() => ofChosen.show((ends) => <TeamDialog {...ends} ids={ids} />)}>Team</Button>
          <Button disabled={action.isBusy} onClick={() => enableChosen(false)}>
            Disable
          </Button>
          <Button disabled={action.isBusy} onClick={() => enableChosen(true)}>
            Enable
          </Button>
          <Button kind="danger" onClick={() => ofChosen.show((ends) => <RemoveEmails {...ends} ids={ids} />)}>
            Remove
          </Button>
        </SelectionBar>
      )}
      <Listing
        what="e-mails"
        data={data}
        rowsOf={({ emails }) => emails}
        columns={shownColumns}
        empty={
          hasFilters ? (
            <NoMatch title="No address matches these filters." path="/emails" all="Show all addresses" />
          ) : (
            <Empty title="No address is watched yet.">
              Add one, import a file, or <a href={addressOf("/settings/directory")}>connect your directory</a>
              . Its domain has to be verified first, under <a href={addressOf("/domains")}>Domains</a>.
            </Empty>
          )
        }
      />
      {dialog}
      {ofChosen.dialog}
    </Page>
  );
}

const columns = (
  show: Show,
  /** For what ends the selection, which may have the row. */
  showLast: Show,
  enableOne: (email: Email, isOn: boolean) => void,
  isBusy: boolean,
): Column<Email>[] => [
  {
    name: "Address",
    kind: "main",
    width: "address",
    cell: ({ id, email, ...marked }) =>
      withMarks(
        <a href={addressOf(`/emails/${id}`)} title={email}>
          <bdi>{inBothForms(email)}</bdi>
        </a>,
        marked,
      ),
  },
  {
    name: "Owner and team",
    cell: ({ ownerName, team }) => (
      <span class="tailed">
        {Name({ text: ownerName })}
        {team !== null && <small>{Name({ text: team.name })}</small>}
      </span>
    ),
  },
  { name: "Breaches", width: "time", cell: Breaches },
  {
    name: "Last checked",
    width: "time",
    cell: ({ lastScannedAt }) => <When time={lastScannedAt} none="not yet" />,
  },
  {
    name: "State",
    width: "word",
    cell: ({ isActive }) => (
      <span class={`state ${isActive ? "" : "off"}`}>{isActive ? "Enabled" : "Disabled"}</span>
    ),
  },
  {
    ...actionsColumn<Email>(
      (email) => [
        { name: "Edit", act: () => show((ends) => <EditEmail {...ends} email={email} />) },
        {
          name: email.isActive ? "Disable" : "Enable",
          act: () => enableOne(email, !email.isActive),
          isOff: isBusy,
        },
        { name: "Remove", act: () => showLast((ends) => <RemoveEmail {...ends} email={email} />) },
      ],
      ({ email }) => email,
    ),
    isMinor: true,
  },
];

/** How many, the worst that is open, and how many are open unless all are. */
function Breaches({ id, breachCount, severity, unacknowledgedBreachCount: open, lastScannedAt }: Email) {
  if (breachCount === 0) return <span class="muted">{lastScannedAt === null ? "–" : "0"}</span>;
  return (
    <>
      <a href={addressOf("/findings", { acknowledged: anyState, emailId: id })}>{number(breachCount)}</a>{" "}
      {severity !== null && SeverityMark({ severity })}
      {severity !== null && open < breachCount && <small> {number(open)} open</small>}
    </>
  );
}
