import { call } from "../../api/client.ts";
import type { Team } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty } from "../../components/notice.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { addressOf } from "../../place.ts";
import { isAdmin, isMember } from "../../session.ts";
import { count, number } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { mostExposed } from "../emails/filters.ts";

export function Teams() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/teams", { query }, { signal }));
  const { dialog, show } = useDialog(data.reload);
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Teams group addresses, and alerts name them.{isMember.value && " Only admins change teams."}
        </p>
        {isAdmin.value && (
          <Button kind="primary" onClick={() => show((ends) => <TeamForm {...ends} />)}>
            Add team
          </Button>
        )}
      </div>
      <Listing
        what="teams"
        data={data}
        rowsOf={({ teams }) => teams}
        columns={columns(show)}
        empty={
          <Empty title="There is no team yet.">Add one, then put addresses into it under E-mails.</Empty>
        }
      />
      {dialog}
    </>
  );
}

const columns = (show: Show): Column<Team>[] => [
  { name: "Name", kind: "main", width: "rest", cell: ({ name }) => <Name text={name} /> },
  {
    name: "E-mails",
    kind: "number",
    width: "word",
    cell: ({ id, emailCount }) => <a href={addressOf("/emails", { teamId: id })}>{number(emailCount)}</a>,
  },
  { name: "Exposed", cell: Exposed },
  actionsColumn(
    (team) =>
      isAdmin.value
        ? [
            { name: "Rename", act: () => show((ends) => <TeamForm {...ends} team={team} />) },
            { name: "Delete", act: () => show((ends) => <DeleteTeam {...ends} team={team} />) },
          ]
        : [],
    ({ name }) => name,
  ),
];

/** How many of its people have open findings, and the way to them. */
function Exposed({ id, emailCount, breachedEmailCount }: Team) {
  if (emailCount === 0) return null;
  if (breachedEmailCount === 0) return <span class="muted">Nobody has open findings</span>;
  return (
    <a href={addressOf("/emails", { teamId: id, ...mostExposed })}>
      {number(breachedEmailCount)} of {count(emailCount, "person", "people")}{" "}
      {breachedEmailCount === 1 ? "has" : "have"} open findings
    </a>
  );
}

function TeamForm({ team, ...ends }: Ends & { team?: Team }) {
  const save = async (fields: FormData): Promise<string> => {
    const body = { name: String(fields.get("name")).trim() };
    if (team === undefined) {
      await call("POST /dashboard/teams", { body });
      return `The team ${isolated(body.name)} was added.`;
    }
    await call("PATCH /dashboard/teams/{id}", { path: { id: team.id }, body });
    return `The team is now called ${isolated(body.name)}.`;
  };
  return (
    <FormDialog
      {...ends}
      title={team === undefined ? "Add team" : `Rename ${isolated(team.name)}`}
      submit={team === undefined ? "Add team" : "Save"}
      onSubmit={save}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={100}
        defaultValue={team?.name ?? ""}
        autocomplete="off"
        dir="auto"
      />
    </FormDialog>
  );
}

function DeleteTeam({ team, ...ends }: Ends & { team: Team }) {
  const remove = async (): Promise<string> => {
    await call("DELETE /dashboard/teams/{id}", { path: { id: team.id } });
    return `The team ${isolated(team.name)} was deleted.`;
  };
  return (
    <Confirm {...ends} title={`Delete ${isolated(team.name)}?`} submit="Delete" act={remove}>
      {team.emailCount > 0 &&
        `Its ${count(team.emailCount, "address stays", "addresses stay")} watched, without a team. `}
      This cannot be undone.
    </Confirm>
  );
}
