import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Team } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { addressOf } from "../../place.ts";
import { isAdmin } from "../../session.ts";
import { count, number } from "../../text/words.ts";

type Open = { kind: "add" } | { kind: "rename" | "delete"; team: Team };

export function Teams() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/teams", { query }, { signal }));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Teams group addresses, and alerts name them.{!isAdmin.value && " Only admins change teams."}
        </p>
        {isAdmin.value && (
          <Button kind="primary" onClick={() => setOpen({ kind: "add" })}>
            Add team
          </Button>
        )}
      </div>
      <Listing
        what="teams"
        data={data}
        rowsOf={({ teams }) => teams}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns(setOpen)}
        empty={
          <Empty title="There is no team yet.">
            <p>Add one, then put addresses into it under E-mails.</p>
          </Empty>
        }
      />
      {open?.kind === "add" && <AddTeam onClose={close} onDone={data.reload} />}
      {open?.kind === "rename" && <RenameTeam team={open.team} onClose={close} onDone={data.reload} />}
      {open?.kind === "delete" && <DeleteTeam team={open.team} onClose={close} onDone={data.reload} />}
    </>
  );
}

const columns = (setOpen: (open: Open) => void): Column<Team>[] => [
  { name: "Name", kind: "main", width: "rest", cell: ({ name }) => <Name text={name} /> },
  {
    name: "E-mails",
    kind: "number",
    width: "word",
    cell: ({ id, emailCount }) => <a href={addressOf("/emails", { teamId: id })}>{number(emailCount)}</a>,
  },
  {
    name: "Actions",
    kind: "actions",
    cell: (team) =>
      isAdmin.value && (
        <>
          <Button kind="quiet" aria-description={team.name} onClick={() => setOpen({ kind: "rename", team })}>
            Rename
          </Button>
          <Button kind="quiet" aria-description={team.name} onClick={() => setOpen({ kind: "delete", team })}>
            Delete
          </Button>
        </>
      ),
  },
];

const nameOf = (fields: FormData): string => String(fields.get("name")).trim();

function AddTeam({ onClose, onDone }: Ends) {
  const add = async (fields: FormData): Promise<void> => {
    const { name } = await call("POST /dashboard/teams", { body: { name: nameOf(fields) } });
    say(`The team ${name} was added.`);
    onDone();
  };
  return (
    <FormDialog title="Add team" submit="Add team" onSubmit={add} onClose={onClose}>
      <TextField label="Name" name="name" required maxLength={100} autocomplete="off" dir="auto" />
    </FormDialog>
  );
}

function RenameTeam({ team, onClose, onDone }: Ends & { team: Team }) {
  const rename = async (fields: FormData): Promise<void> => {
    const body = { name: nameOf(fields) };
    await call("PATCH /dashboard/teams/{id}", { path: { id: team.id }, body });
    say(`The team is now called ${body.name}.`);
    onDone();
  };
  return (
    <FormDialog title={`Rename ${team.name}`} submit="Save" onSubmit={rename} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        required
        maxLength={100}
        defaultValue={team.name}
        autocomplete="off"
        dir="auto"
      />
    </FormDialog>
  );
}

function DeleteTeam({ team, onClose, onDone }: Ends & { team: Team }) {
  const remove = async (): Promise<void> => {
    await call("DELETE /dashboard/teams/{id}", { path: { id: team.id } });
    say(`The team ${team.name} was deleted.`);
    onDone();
  };
  return (
    <FormDialog title={`Delete ${team.name}?`} submit="Delete" isDanger onSubmit={remove} onClose={onClose}>
      <p>
        Its {count(team.emailCount, "address stays", "addresses stay")} watched, without a team. This cannot
        be undone.
      </p>
    </FormDialog>
  );
}
