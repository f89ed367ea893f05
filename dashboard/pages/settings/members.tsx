import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Member } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { When } from "../../components/when.tsx";
import { isAdmin, session } from "../../session.ts";
import { inBothForms } from "../../text/domain-name.ts";

type Open = { kind: "invite" } | { kind: "edit" | "remove"; member: Member };

const roles = [
  { value: "member", label: "Member: everything but the settings of the organization" },
  { value: "admin", label: "Admin: also members, teams, domains and API keys" },
];
const roleOf = (fields: FormData) => (fields.get("role") === "admin" ? "admin" : "member");

export function Members() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/members", { query }, { signal }));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const resending = useAction();
  const resend = (member: Member): void =>
    void resending.run(async () => {
      const { email, invitationSent } = await call("POST /dashboard/members/{id}/invitation", {
        path: { id: member.id },
      });
      say(
        invitationSent
          ? `An invitation for ${email} is on its way.`
          : "No e-mail can be sent: ask the operator for a sign-in link.",
      );
      data.reload();
    });
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Who can sign in to this organization.
          {!isAdmin.value && " Only admins invite, change and remove members."}
        </p>
        {isAdmin.value && (
          <Button kind="primary" onClick={() => setOpen({ kind: "invite" })}>
            Invite
          </Button>
        )}
      </div>
      {resending.failure !== undefined && <FailureNotice failure={resending.failure} />}
      <Listing
        what="members"
        data={data}
        rowsOf={({ members }) => members}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns({ setOpen, resend, ownId: session.value?.user.id })}
        empty={<Empty title="There are no members." />}
      />
      {open?.kind === "invite" && <Invite onClose={close} onDone={data.reload} />}
      {open?.kind === "edit" && <EditMember member={open.member} onClose={close} onDone={data.reload} />}
      {open?.kind === "remove" && <RemoveMember member={open.member} onClose={close} onDone={data.reload} />}
    </>
  );
}

type ColumnOptions = {
  setOpen: (open: Open) => void;
  resend: (member: Member) => void;
  ownId: number | undefined;
};

const columns = ({ setOpen, resend, ownId }: ColumnOptions): Column<Member>[] => [
  {
    name: "E-mail address",
    kind: "main",
    cell: ({ id, email }) => (
      <>
        {inBothForms(email)}
        {id === ownId && <small>you</small>}
      </>
    ),
  },
  { name: "Name", cell: ({ name }) => <Name text={name} /> },
  { name: "Role", width: "word", cell: ({ role }) => (role === "admin" ? "Admin" : "Member") },
  { name: "Since", width: "time", cell: ({ createdAt }) => <When time={createdAt} /> },
  {
    name: "Last signed in",
    cell: ({ invitedAt, joinedAt, lastSignInAt }) =>
      invitedAt !== null && joinedAt === null ? (
        <>
          <span class="state off">Invited</span> <When time={invitedAt} />
        </>
      ) : (
        <When time={lastSignInAt} none="not yet" />
      ),
  },
  {
    name: "Actions",
    kind: "actions",
    width: "name",
    cell: (member) =>
      isAdmin.value && (
        <>
          {member.joinedAt === null && (
            <Button kind="quiet" aria-description={member.email} onClick={() => resend(member)}>
              {member.invitedAt === null ? "Send invitation" : "Resend"}
            </Button>
          )}
          <Button
            kind="quiet"
            aria-description={member.email}
            onClick={() => setOpen({ kind: "edit", member })}
          >
            Edit
          </Button>
          <Button
            kind="quiet"
            aria-description={member.email}
            onClick={() => setOpen({ kind: "remove", member })}
          >
            Remove
          </Button>
        </>
      ),
  },
];

function Invite({ onClose, onDone }: Ends) {
  const invite = async (fields: FormData): Promise<void> => {
    const name = String(fields.get("name")).trim();
    const { email, invitationSent } = await call("POST /dashboard/members", {
      body: { email: String(fields.get("email")), role: roleOf(fields), ...(name !== "" && { name }) },
    });
    say(
      invitationSent
        ? `An invitation for ${email} is on its way.`
        : `${email} is a member now. No e-mail can be sent: ask the operator for a sign-in link.`,
    );
    onDone();
  };
  return (
    <FormDialog title="Invite a member" submit="Invite" onSubmit={invite} onClose={onClose}>
      <TextField
        label="E-mail address"
        name="email"
        type="email"
        required
        maxLength={254}
        autocomplete="off"
        hint="The invitation is a sign-in link that is good for 7 days."
      />
      <TextField label="Name" name="name" maxLength={200} autocomplete="off" hint="Optional." />
      <SelectField label="Role" name="role" choices={roles} chosen="member" />
    </FormDialog>
  );
}

function EditMember({ member, onClose, onDone }: Ends & { member: Member }) {
  const save = async (fields: FormData): Promise<void> => {
    const name = String(fields.get("name")).trim();
    await call("PATCH /dashboard/members/{id}", {
      path: { id: member.id },
      body: { name: name === "" ? null : name, role: roleOf(fields) },
    });
    say(`${member.email} was changed.`);
    onDone();
  };
  return (
    <FormDialog title={`Edit ${member.email}`} submit="Save" onSubmit={save} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        maxLength={200}
        defaultValue={member.name ?? ""}
        dir="auto"
        autocomplete="off"
      />
      <SelectField label="Role" name="role" choices={roles} chosen={member.role} />
    </FormDialog>
  );
}

function RemoveMember({ member, onClose, onDone }: Ends & { member: Member }) {
  const remove = async (): Promise<void> => {
    await call("DELETE /dashboard/members/{id}", { path: { id: member.id } });
    say(`${member.email} was removed.`);
    onDone();
  };
  const isSelf = session.value?.user.id === member.id;
  return (
    <FormDialog
      title={`Remove ${member.email}?`}
      submit="Remove"
      isDanger
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        {isSelf
          ? "You are signed out at once, and cannot sign in again."
          : "All sessions of this member end at once."}{" "}
        What they did stays in the activity log, as done by a former member.
      </p>
    </FormDialog>
  );
}
