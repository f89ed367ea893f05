import { asFailure, call } from "../../api/client.ts";
import { Failure, type Sentence } from "../../api/failure.ts";
import type { Email, Input } from "../../api/routes.ts";
import { teamChoices } from "../../components/choices.ts";
import { Confirm, type Ends, FormDialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { useData } from "../../components/use-data.ts";
import { addresses, count } from "../../text/words.ts";
import { isolated } from "../../translation.ts";

/** A request changes at most so many. */
export const mostChanged = 500;

const gone: Sentence = "No monitored email of the organization has this id";

type Change = Omit<Input<"POST /dashboard/emails/changes">["body"], "ids">;

/**
 * Changes or removes many addresses. `onGone`: somebody has removed one of them meanwhile, so that nothing is
 * changed. @throws Failure
 */
export async function changeAll(ids: readonly number[], change: Change, onGone: () => void) {
  try {
    return await call("POST /dashboard/emails/changes", { body: { ids: [...ids], ...change } });
  } catch (error) {
    const { status, details } = asFailure(error);
    if (details.error !== gone) throw error;
    onGone();
    const sentence = "Nothing was changed: one of these addresses was removed meanwhile. Choose again.";
    throw new Failure(sentence, { status });
  }
}

export async function enableAll(
  ids: readonly number[],
  isActive: boolean,
  onGone: () => void,
): Promise<void> {
  const { changed, skipped } = await changeAll(ids, { set: { isActive } }, onGone);
  const why = isActive
    ? "already enabled, at a domain that is not verified, or without a seat"
    : "already disabled";
  say(
    `${isActive ? "Enabled" : "Disabled"} ${addresses(changed)}${skipped > 0 ? `; skipped ${skipped}: ${why}` : ""}.`,
  );
}

export async function enable({ id, email }: Email, isActive: boolean): Promise<void> {
  await call("PATCH /v1/emails/{id}", { path: { id }, body: { isActive } });
  say(`${isolated(email)} is ${isActive ? "enabled" : "disabled"}.`);
}

export function TeamField({ team = null }: { team?: Email["team"] }) {
  const teams = useData("", teamChoices);
  const present = team === null ? [] : [{ value: String(team.id), label: team.name }];
  return (
    <>
      <FailureNotice failure={teams.failure} retry={teams.reload} />
      <SelectField
        label="Team"
        name="teamId"
        choices={[{ value: "", label: "None" }, ...(teams.value ?? present)]}
        chosen={String(team?.id ?? "")}
      />
    </>
  );
}

export function TeamDialog({ ids, ...ends }: Ends & { ids: readonly number[] }) {
  const change = async (fields: FormData): Promise<string> => {
    const teamId = Number(fields.get("teamId")) || null;
    const { changed } = await changeAll(ids, { set: { teamId } }, ends.onDone);
    return `Changed the team of ${addresses(changed)}.`;
  };
  return (
    <FormDialog {...ends} title={`Team of ${addresses(ids.length)}`} submit="Save" onSubmit={change}>
      <TeamField />
    </FormDialog>
  );
}

export function RemoveEmails({ ids, ...ends }: Ends & { ids: readonly number[] }) {
  const remove = async (): Promise<string> => {
    const { changed } = await changeAll(ids, { remove: true }, ends.onDone);
    return `Removed ${addresses(changed)}.`;
  };
  return (
    <Confirm {...ends} title={`Remove ${addresses(ids.length)}?`} submit="Remove" act={remove}>
      They are no longer watched, and their findings are deleted with who acknowledged them and why. This
      cannot be undone. Disable them instead to keep their history without paying for them.
    </Confirm>
  );
}

export function RemoveEmail({ email, ...ends }: Ends & { email: Email }) {
  const remove = async (): Promise<string> => {
    await call("DELETE /v1/emails", { query: { id: email.id } });
    return `${isolated(email.email)} was removed.`;
  };
  return (
    <Confirm {...ends} title={`Remove ${isolated(email.email)}?`} submit="Remove" act={remove}>
      The address is no longer watched, and its {count(email.breachCount, "finding is", "findings are")}{" "}
      deleted with who acknowledged them and why. This cannot be undone. Disable it instead to keep its
      history without paying for it.
    </Confirm>
  );
}
