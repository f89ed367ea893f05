import { call } from "../../api/client.ts";
import type { Email } from "../../api/routes.ts";
import { teamChoices } from "../../components/choices.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { useData } from "../../components/use-data.ts";
import { count } from "../../text/words.ts";

/** A request changes at most so many. */
export const mostChanged = 500;

type Properties = Ends & { ids: readonly number[] };

const addresses = (value: number): string => count(value, "address", "addresses");

/** Enables or disables many addresses, and says what became of them. */
export async function enableAll(ids: readonly number[], isActive: boolean): Promise<void> {
  const body = { ids: [...ids], set: { isActive } };
  const { changed, skipped } = await call("POST /dashboard/emails/changes", { body });
  const why = isActive
    ? "already enabled, at a domain that is not verified, or without a seat"
    : "already disabled";
  say(
    `${isActive ? "Enabled" : "Disabled"} ${addresses(changed)}${skipped > 0 ? `; skipped ${skipped}: ${why}` : ""}.`,
  );
}

/** Puts addresses into a team, or into none. */
export function TeamDialog({ ids, onClose, onDone }: Properties) {
  const teams = useData("", teamChoices);
  const change = async (fields: FormData): Promise<void> => {
    const teamId = Number(fields.get("teamId")) || null;
    const body = { ids: [...ids], set: { teamId } };
    const { changed } = await call("POST /dashboard/emails/changes", { body });
    say(`Changed the team of ${addresses(changed)}.`);
    onDone();
  };
  return (
    <FormDialog title={`Team of ${addresses(ids.length)}`} submit="Save" onSubmit={change} onClose={onClose}>
      {teams.failure !== undefined && <FailureNotice failure={teams.failure} retry={teams.reload} />}
      <SelectField
        label="Team"
        name="teamId"
        choices={[{ value: "", label: "None" }, ...(teams.value ?? [])]}
      />
    </FormDialog>
  );
}

export function RemoveEmails({ ids, onClose, onDone }: Properties) {
  const remove = async (): Promise<void> => {
    const body = { ids: [...ids], remove: true as const };
    const { changed } = await call("POST /dashboard/emails/changes", { body });
    say(`Removed ${addresses(changed)}.`);
    onDone();
  };
  return (
    <FormDialog
      title={`Remove ${addresses(ids.length)}?`}
      submit="Remove"
      isDanger
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        They are no longer watched, and their findings are deleted with who acknowledged them and why. This
        cannot be undone.
      </p>
      <p>Disable them instead to keep their history without paying for them.</p>
    </FormDialog>
  );
}

export function RemoveEmail({ email, onClose, onDone }: Ends & { email: Email }) {
  const remove = async (): Promise<void> => {
    await call("DELETE /v1/emails", { query: { id: email.id } });
    say(`${email.email} was removed.`);
    onDone();
  };
  return (
    <FormDialog title={`Remove ${email.email}?`} submit="Remove" isDanger onSubmit={remove} onClose={onClose}>
      <p>
        The address is no longer watched, and its {count(email.breachCount, "finding is", "findings are")}{" "}
        deleted with who acknowledged them and why. This cannot be undone.
      </p>
      <p>Disable it instead to keep its history without paying for it.</p>
    </FormDialog>
  );
}
