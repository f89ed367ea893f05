import { call } from "../../api/client.ts";
import type { Email } from "../../api/routes.ts";
import { teamChoices } from "../../components/choices.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { useData } from "../../components/use-data.ts";

type Properties = Ends & { email: Email };

/** Whose an address is, and which team's. */
export function EditEmail({ email, onClose, onDone }: Properties) {
  const teams = useData("", teamChoices);
  const chosen = email.team === null ? [] : [{ value: String(email.team.id), label: email.team.name }];

  const save = async (fields: FormData): Promise<void> => {
    const ownerName = String(fields.get("ownerName")).trim();
    const teamId = Number(fields.get("teamId"));
    await call("PATCH /dashboard/emails/{id}", {
      path: { id: email.id },
      body: { ownerName: ownerName === "" ? null : ownerName, teamId: teamId > 0 ? teamId : null },
    });
    say(`${email.email} was changed.`);
    onDone();
  };

  return (
    <FormDialog title={`Edit ${email.email}`} submit="Save" onSubmit={save} onClose={onClose}>
      {teams.failure !== undefined && <FailureNotice failure={teams.failure} retry={teams.reload} />}
      <TextField
        label="Owner"
        name="ownerName"
        maxLength={200}
        defaultValue={email.ownerName ?? ""}
        dir="auto"
      />
      <SelectField
        label="Team"
        name="teamId"
        choices={[{ value: "", label: "None" }, ...(teams.value ?? chosen)]}
        chosen={String(email.team?.id ?? "")}
      />
    </FormDialog>
  );
}
