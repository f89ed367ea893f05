import { asFailure, call } from "../../api/client.ts";
import type { FoundBreach } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { memberChoices } from "../../components/choices.ts";
import { type Ends, FormDialog, type Show } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { FailureNotice, Pending } from "../../components/notice.tsx";
import { rowKey } from "../../components/shortcuts.tsx";
import { say } from "../../components/status.tsx";
import { useAction } from "../../components/use-action.ts";
import { reloadAll, useData } from "../../components/use-data.ts";
import { session } from "../../session.ts";
import { isolated } from "../../translation.ts";

export type Assignee = FoundBreach["assignee"];

type Of = { breachId: string; assignee: Assignee };

/** What the filter and the dialog call nobody. */
export const nobody = { value: "none", label: "Nobody" };

/** Whoever sees somebody else there now sees that first: the page is loaded again. @throws Failure */
async function assign({ breachId, assignee }: Of, userId: number | null): Promise<void> {
  const body = { userId, replaces: assignee?.id ?? null };
  try {
    const given = await call("PUT /dashboard/breaches/{id}/assignee", { path: { id: breachId }, body });
    const to = given.assignee;
    say(to === null ? "Nobody has this breach in hand." : `Assigned to ${isolated(to.label)}.`);
    reloadAll();
  } catch (error) {
    if (asFailure(error).code === "assignee_changed") reloadAll();
    throw error;
  }
}

/** For a row of a breach: the key that assigns it to the reader. */
export const assignKey = (of: Of) =>
  rowKey("a", async () => {
    const me = session.value?.user.id;
    if (me === undefined) return;
    if (of.assignee?.id === me) return say("You have this breach in hand already.");
    try {
      await assign(of, me);
    } catch (error) {
      say(`Not assigned: ${asFailure(error).message}`);
    }
  });

/** Who has the breach in hand, with what changes that. */
export function AssigneeValue({ of, show }: { of: Of; show: Show }) {
  const action = useAction();
  const { assignee } = of;
  const me = session.value?.user.id;
  return (
    <>
      <span>{assignee === null ? "nobody" : <bdi>{assignee.label}</bdi>}</span>{" "}
      {assignee?.id !== me && me !== undefined && (
        <Button
          kind="quiet"
          aria-keyshortcuts="a"
          isBusy={action.isBusy}
          onClick={() => void action.run(() => assign(of, me))}
        >
          Assign to me
        </Button>
      )}
      <Button kind="quiet" onClick={() => show((ends) => <AssignDialog {...ends} of={of} />)}>
        Assign
      </Button>
      <FailureNotice failure={action.failure} />
    </>
  );
}

function AssignDialog({ of, ...ends }: Ends & { of: Of }) {
  const data = useData("", memberChoices);
  return (
    <FormDialog
      {...ends}
      title="Who has this breach in hand?"
      submit="Assign"
      isIdle={data.value === undefined}
      onSubmit={async (fields) => {
        const chosen = String(fields.get("userId"));
        await assign(of, chosen === nobody.value ? null : Number(chosen));
        return undefined;
      }}
    >
      <Pending data={data} what="the members" />
      {data.value !== undefined && (
        <SelectField
          label="Assignee"
          name="userId"
          choices={[nobody, ...data.value]}
          chosen={of.assignee === null ? nobody.value : String(of.assignee.id)}
          hint="Everybody in the organization sees it. Nobody gets an e-mail."
        />
      )}
    </FormDialog>
  );
}
