import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { problemIn } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { FieldProblem } from "./field.tsx";
import { FailureNotice } from "./notice.tsx";
import { say } from "./status.tsx";
import type { Action } from "./use-action.ts";

export type FormProps = {
  submit: string;
  /** The form's action: whoever shows the form knows whether it is at work. */
  action: Action;
  /** Does it, and resolves to the words that people then read, if any. */
  onSubmit: (fields: FormData) => Promise<string | undefined>;
  onDone?: () => void;
  /** The button is dangerous, or plain because another one is more important. */
  kind?: "danger" | "plain" | undefined;
  /** Nothing can be done yet, or nothing is to do. */
  isIdle?: boolean;
  /** Leaves the form. The button **Cancel** calls it, and the form itself after success. */
  cancel?: () => void;
  /** People may leave it while it works: its request goes on, or the opener aborts it. */
  canLeave?: boolean;
  children: ComponentChildren;
};

/** A form: what the service refuses stands at its field, or above the button. */
export function Form({
  submit,
  action,
  onSubmit,
  onDone,
  kind,
  isIdle = false,
  cancel,
  canLeave = false,
  children,
}: FormProps) {
  const names = useRef<string[]>([]);
  const problem = useMemo(() => problemIn(action.failure, names.current), [action.failure]);
  const submitAll = async (fields: FormData): Promise<void> => {
    const said = await onSubmit(fields);
    onDone?.();
    // Last: it may lead to another page, where this is read.
    if (said !== undefined) say(said);
  };
  const button = (
    <Button
      isSubmit
      kind={kind === "plain" ? undefined : (kind ?? "primary")}
      isBusy={action.isBusy}
      disabled={isIdle}
    >
      {submit}
    </Button>
  );
  return (
    <form
      onKeyDown={(event) => {
        const isSending = event.key === "Enter" && (event.ctrlKey || event.metaKey);
        if (isSending && event.target instanceof HTMLTextAreaElement) event.currentTarget.requestSubmit();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (isIdle) return;
        const fields = new FormData(event.currentTarget);
        names.current = [...fields.keys()];
        void action.run(() => submitAll(fields)).then((isDone) => isDone && cancel?.());
      }}
    >
      <FieldProblem.Provider value={problem}>{children}</FieldProblem.Provider>
      <FailureNotice failure={problem === undefined ? action.failure : undefined} />
      {cancel === undefined ? (
        button
      ) : (
        <div class="buttons">
          <Button disabled={action.isBusy && !canLeave} onClick={cancel}>
            Cancel
          </Button>
          {button}
        </div>
      )}
    </form>
  );
}
