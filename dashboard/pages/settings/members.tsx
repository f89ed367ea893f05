import { useState } from "preact/hooks";
import { allPages } from "../../api/all-pages.ts";
import { sendChanges } from "../../api/changes.ts";
import { call } from "../../api/client.ts";
import type { ApiKey, Member } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { CheckField, EmailField, SelectField, TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty, FailureNotice, Pending } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { type Data, useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { isAdmin, isMember, loadSession, session } from "../../session.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { isolated } from "../../translation.ts";
import { stateOf } from "./api-keys.tsx";

const roles = [
  { value: "member", label: "Member: everything but the settings of the organization" },
  { value: "admin", label: "Admin: also members, teams, domains and API keys" },
];
export function Members() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/members", { query }, { signal }));
  const { dialog, show } = useDialog(data.reload);
  const resending = useAction();
  const resend = (member: Member): void =>
    void resending.run(async () => {
      const { email, invitationSent } = await call("POST /dashboard/members/{id}/invitation", {
        path: { id: member.id },
      });
      say(
        invitationSent
          ? `An invitation for ${isolated(email)} is on its way.`
          : "No e-mail can be sent: ask the operator for a sign-in link.",
      );
      data.reload();
    });
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Who can sign in to this organization.
          {isMember.value && " Only admins invite, change and remove members."}
        </p>
        {isAdmin.value && (
          <Button kind="primary" onClick={() => show((ends) => <MemberForm {...ends} />)}>
            Invite
          </Button>
        )}
      </div>
      <FailureNotice failure={resending.failure} />
      <Listing
        what="members"
        data={data}
        rowsOf={({ members }) => members}
        columns={columns(show, resend)}
        empty={<Empty title="There are no members." />}
      />
      {dialog}
    </>
  );
}

const columns = (show: Show, resend: (member: Member) => void): Column<Member>[] => [
  {
    name: "E-mail address",
    kind: "main",
    cell: ({ id, email }) => (
      <>
        <bdi>{inBothForms(email)}</bdi>
        {id === session.value?.user.id && <small>you</small>}
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
  actionsColumn(
    (member) =>
      isAdmin.value
        ? [
            ...(member.joinedAt === null
              ? [
                  {
                    name: member.invitedAt === null ? "Send invitation" : "Resend",
                    act: () => resend(member),
                  },
                ]
              : []),
            ...(member.hasIdentity
              ? [
                  {
                    name: "Forget account",
                    act: () => show((ends) => <ForgetAccount {...ends} member={member} />),
                  },
                ]
              : []),
            { name: "Edit", act: () => show((ends) => <MemberForm {...ends} member={member} />) },
            { name: "Remove", act: () => show((ends) => <RemoveMember {...ends} member={member} />) },
          ]
        : [],
    ({ email }) => email,
    "name",
  ),
];

function MemberForm({ member, ...ends }: Ends & { member?: Member }) {
  const [role, setRole] = useState(member?.role ?? "member");
  const isDemoted = member?.role === "admin" && role === "member";
  const made = useMadeKeys(member?.role === "admin" ? member : undefined);
  const save = async (fields: FormData): Promise<string> => {
    const name = String(fields.get("name")).trim() || null;
    const revokeKeys = fields.has("revokeKeys");
    if (member !== undefined) {
      const shown = { ...member, revokeKeys: false };
      await sendChanges(shown, { name, role, revokeKeys }, (body) =>
        call("PATCH /dashboard/members/{id}", { path: { id: member.id }, body }),
      );
      // It may be one's own role.
      await loadSession();
      return `${isolated(member.email)} was changed.`;
    }
    const { email, invitationSent } = await call("POST /dashboard/members", {
      body: { email: String(fields.get("email")), role, ...(name !== null && { name }) },
    });
    return invitationSent
      ? `An invitation for ${isolated(email)} is on its way.`
      : `${isolated(email)} is a member now. No e-mail can be sent: ask the operator for a sign-in link.`;
  };
  return (
    <FormDialog
      {...ends}
      title={member === undefined ? "Invite a member" : `Edit ${isolated(member.email)}`}
      submit={member === undefined ? "Invite" : "Save"}
      isIdle={isDemoted && isUnknown(made)}
      onSubmit={save}
    >
      {member === undefined && (
        <EmailField hint="The invitation is a sign-in link that is good for 7 days." />
      )}
      <TextField
        label="Name"
        name="name"
        maxLength={200}
        defaultValue={member?.name ?? ""}
        dir="auto"
        autocomplete="off"
        hint="Optional."
      />
      <SelectField
        label="Role"
        name="role"
        choices={roles}
        chosen={role}
        onChange={(chosen) => setRole(chosen === "admin" ? "admin" : "member")}
      />
      {isDemoted && (
        <>
          <p>Sessions and passkeys of this admin end: the next sign-in is as a member.</p>
          <MadeKeys made={made} isChecked={false} />
        </>
      )}
    </FormDialog>
  );
}

/** The valid API keys that a member has made. */
const useMadeKeys = (member: Member | undefined): Data<ApiKey[]> =>
  useData("", async (signal) => {
    const apiKeys: ApiKey[] = [];
    if (member === undefined) return apiKeys;
    const pages = allPages("apiKeys", (query) => call("GET /dashboard/api-keys", { query }, { signal }));
    for await (const { rows } of pages)
      apiKeys.push(...rows.filter((key) => key.createdBy?.id === member.id && stateOf(key) === "valid"));
    return apiKeys;
  });

/** Nobody decides about keys before they are shown. */
const isUnknown = ({ value, failure }: Data<ApiKey[]>): boolean =>
  value === undefined && failure === undefined;

/** The keys, and the offer to revoke them: whoever made a key may have kept it. */
function MadeKeys({ made, isChecked }: { made: Data<ApiKey[]>; isChecked: boolean }) {
  const { value: keys = [] } = made;
  return (
    <>
      <Pending data={made} what="the API keys that the member has made" />
      {keys.length > 0 && (
        <>
          <p>The member has made these API keys, and may have kept copies:</p>
          <ul>
            {keys.map(({ id, label, lastUsedAt }) => (
              <li key={id}>
                <Name text={label} />, last used <When time={lastUsedAt} none="never" />
              </li>
            ))}
          </ul>
          <CheckField
            label={keys.length === 1 ? "Revoke this key" : `Revoke these ${keys.length} keys`}
            name="revokeKeys"
            isChecked={isChecked}
          />
        </>
      )}
    </>
  );
}

function ForgetAccount({ member, ...ends }: Ends & { member: Member }) {
  const forget = async (): Promise<string> => {
    const path = { id: member.id };
    await call("PATCH /dashboard/members/{id}", { path, body: { hasIdentity: false } });
    return `The next account with the address ${isolated(member.email)} can sign in.`;
  };
  return (
    <Confirm
      {...ends}
      title={`Forget the account of ${isolated(member.email)}?`}
      submit="Forget account"
      act={forget}
    >
      The next account at the identity provider that has this address signs in as this member. Do it if the
      account was made anew. If somebody else has the address now, remove the member and invite that person.
    </Confirm>
  );
}

function RemoveMember({ member, ...ends }: Ends & { member: Member }) {
  const remove = async (fields: FormData): Promise<string> => {
    const query = fields.has("revokeKeys") ? { revokeKeys: true } : {};
    await call("DELETE /dashboard/members/{id}", { path: { id: member.id }, query });
    return `${isolated(member.email)} was removed.`;
  };
  const isSelf = session.value?.user.id === member.id;
  const made = useMadeKeys(member);
  return (
    <FormDialog
      {...ends}
      title={`Remove ${isolated(member.email)}?`}
      submit="Remove"
      kind="danger"
      isIdle={isUnknown(made)}
      onSubmit={remove}
    >
      <p>
        {isSelf
          ? "You are signed out at once, and cannot sign in again."
          : "All sessions and passkeys of this member end at once."}{" "}
        What they did stays in the activity log, as done by a former member.
      </p>
      <MadeKeys made={made} isChecked />
    </FormDialog>
  );
}
