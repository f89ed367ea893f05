import { useMemo, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Email } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { domainChoices, teamChoices } from "../components/choices.ts";
import { Filter, FilterBar } from "../components/filter.tsx";
import { Listing, usePage } from "../components/listing.tsx";
import { Name } from "../components/name.tsx";
import { Empty, FailureNotice } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { foundIn, Search } from "../components/search.tsx";
import { SelectionBar, useSelection } from "../components/selection.tsx";
import { SeverityMark } from "../components/severity.tsx";
import { say } from "../components/status.tsx";
import type { Column } from "../components/table.tsx";
import { useAction } from "../components/use-action.ts";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { place } from "../router.ts";
import { inBothForms } from "../text/domain-name.ts";
import { count, number } from "../text/words.ts";
import { AddEmail } from "./emails/add.tsx";
import { enableAll, mostChanged, RemoveEmail, RemoveEmails, TeamDialog } from "./emails/change.tsx";
import { EditEmail } from "./emails/edit.tsx";
import { ImportDialog } from "./emails/import.tsx";
import { anyState } from "./findings/filters.ts";

type Open = { kind: "add" | "import" | "team" | "remove-all" } | { kind: "edit" | "remove"; email: Email };

const states = [
  { value: "true", label: "Enabled" },
  { value: "false", label: "Disabled" },
];

export function EmailsPage() {
  const { q, domainId, teamId, isActive } = place.value.query;
  const filters = { q, domainId, teamId, isActive };
  const data = usePage(filters, (query, signal) => call("GET /dashboard/emails", { query }, { signal }));
  const [open, setOpen] = useState<Open>();
  const action = useAction();
  const close = (): void => setOpen(undefined);
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
  const enableChosen = (isOn: boolean): void =>
    void action.run(() => enableAll(ids, isOn)).then((isDone) => isDone && done());

  const enable = (email: Email, isOn: boolean) =>
    action.run(async () => {
      await call("PATCH /v1/emails/{id}", { path: { id: email.id }, body: { isActive: isOn } });
      say(`${email.email} is ${isOn ? "enabled" : "disabled"}.`);
      data.reload();
    });

  const shownColumns = useMemo(
    () => [column, ...columns(setOpen, enable, action.isBusy)],
    [column, action.isBusy],
  );

  return (
    <Page
      title="E-mails"
      about={
        data.value &&
        (hasFilters
          ? count(data.value.total, "address matches", "addresses match")
          : count(data.value.total, "address", "addresses"))
      }
      actions={
        <>
          <Button onClick={() => setOpen({ kind: "import" })}>Import</Button>
          <Button kind="primary" onClick={() => setOpen({ kind: "add" })}>
            Add e-mail
          </Button>
        </>
      }
    >
      <FilterBar>
        <Search hint="Address or owner" found={foundIn(data, "/emails", shown)} />
        <Filter
          label="Domain"
          name="domainId"
          choices={domainChoices}
          chosenLabel={first && inBothForms(first.domain.name)}
        />
        <Filter label="Team" name="teamId" choices={teamChoices} chosenLabel={first?.team?.name} />
        <Filter label="State" name="isActive" choices={states} />
      </FilterBar>
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      {shown.length > 0 && (
        <SelectionBar selected={chosen.size} onNone={clear}>
          <Button onClick={() => setOpen({ kind: "team" })}>Team</Button>
          <Button disabled={action.isBusy} onClick={() => enableChosen(false)}>
            Disable
          </Button>
          <Button disabled={action.isBusy} onClick={() => enableChosen(true)}>
            Enable
          </Button>
          <Button kind="danger" onClick={() => setOpen({ kind: "remove-all" })}>
            Remove
          </Button>
        </SelectionBar>
      )}
      <Listing
        what="e-mails"
        data={data}
        rowsOf={({ emails }) => emails}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={shownColumns}
        empty={<NoEmails hasFilters={hasFilters} />}
      />
      {open?.kind === "add" && <AddEmail onClose={close} onDone={data.reload} />}
      {open?.kind === "import" && <ImportDialog onClose={close} onDone={data.reload} />}
      {open?.kind === "team" && <TeamDialog ids={ids} onClose={close} onDone={done} />}
      {open?.kind === "remove-all" && <RemoveEmails ids={ids} onClose={close} onDone={done} />}
      {open?.kind === "edit" && <EditEmail email={open.email} onClose={close} onDone={data.reload} />}
      {open?.kind === "remove" && <RemoveEmail email={open.email} onClose={close} onDone={data.reload} />}
    </Page>
  );
}

const columns = (
  setOpen: (open: Open) => void,
  enable: (email: Email, isOn: boolean) => void,
  isBusy: boolean,
): Column<Email>[] => [
  {
    name: "Address",
    kind: "main",
    width: "address",
    cell: ({ id, email }) => (
      <a href={addressOf(`/emails/${id}`)} title={email}>
        <bdi>{inBothForms(email)}</bdi>
      </a>
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
    name: "Actions",
    kind: "actions",
    cell: (email) => (
      <>
        <Button kind="quiet" aria-description={email.email} onClick={() => setOpen({ kind: "edit", email })}>
          Edit
        </Button>
        <Button
          kind="quiet"
          aria-description={email.email}
          disabled={isBusy}
          onClick={() => enable(email, !email.isActive)}
        >
          {email.isActive ? "Disable" : "Enable"}
        </Button>
        <Button
          kind="quiet"
          aria-description={email.email}
          onClick={() => setOpen({ kind: "remove", email })}
        >
          Remove
        </Button>
      </>
    ),
  },
];

/** How many, and the worst that is open. */
function Breaches({ id, breachCount, severity }: Email) {
  if (breachCount === 0) return <span class="muted">0</span>;
  return (
    <>
      <a href={addressOf("/findings", { acknowledged: anyState, emailId: id })}>{number(breachCount)}</a>{" "}
      {severity !== null && SeverityMark({ severity })}
    </>
  );
}

function NoEmails({ hasFilters }: { hasFilters: boolean }) {
  if (hasFilters) {
    return (
      <Empty title="No address matches these filters.">
        <p>
          <a href={addressOf("/emails")}>Show all addresses</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No address is watched yet.">
      <p>
        Add one, or import a file. Its domain has to be verified first, under{" "}
        <a href={addressOf("/domains")}>Domains</a>.
      </p>
    </Empty>
  );
}
