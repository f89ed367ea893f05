import { sendChanges } from "../../api/changes.ts";
import { call } from "../../api/client.ts";
import type { Email } from "../../api/routes.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { isolated } from "../../translation.ts";
import { TeamField } from "./change.tsx";

export function EditEmail({ email, ...ends }: Ends & { email: Email }) {
  const save = async (fields: FormData): Promise<string> => {
    const { id, ownerName, team } = email;
    const typed = {
      ownerName: String(fields.get("ownerName")).trim() || null,
      teamId: Number(fields.get("teamId")) || null,
    };
    await sendChanges({ ownerName, teamId: team?.id ?? null }, typed, (body) =>
      call("PATCH /dashboard/emails/{id}", { path: { id }, body }),
    );
    return `${isolated(email.email)} was changed.`;
  };
  return (
    <FormDialog {...ends} title={`Edit ${isolated(email.email)}`} submit="Save" onSubmit={save}>
      <TextField
        label="Owner"
        name="ownerName"
        maxLength={200}
        defaultValue={email.ownerName ?? ""}
        dir="auto"
      />
      <TeamField team={email.team} />
    </FormDialog>
  );
}
