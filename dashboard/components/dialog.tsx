import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Failure } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { FieldProblem } from "./field.tsx";
import { FailureNotice } from "./notice.tsx";
import { type Action, useAction } from "./use-action.ts";

type DialogProps = {
  title: string;
  onClose: () => void;
  /** Esc does nothing. */
  staysOpen?: boolean;
  isWide?: boolean;
  /** It is there to be read, so that the focus begins at its heading. */
  isText?: boolean;
  children: ComponentChildren;
};

/** A modal dialog. The browser moves the focus into it, and back when it closes. */
export function Dialog({
  title,
  onClose,
  staysOpen = false,
  isWide = false,
  isText = false,
  children,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? "wide" : ""}
      aria-labelledby={heading}
      onCancel={(event) => {
        // A file picker that is left says so too.
        if (event.target !== event.currentTarget) return;
        // It goes at once: the event "close" comes later, and would close what is opened until then.
        event.preventDefault();
        if (!staysOpen) onClose();
      }}
      onClose={(event) => {
        // The event of a dialog that is gone must not close one that was opened since.
        if (!event.currentTarget.isConnected) return;
        // Browsers close a dialog at the second Esc, whatever the page says.
        if (staysOpen) event.currentTarget.showModal();
        else onClose();
      }}
    >
      <h2 id={heading} {...(isText && { tabIndex: -1, autofocus: true })}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** What a dialog calls: `onDone` when it has changed something, `onClose` when it is over. */
export type Ends = { onClose: () => void; onDone: () => void };

type FormDialogProps = {
  title: string;
  /** The name of the button that does it. */
  submit: string;
  isDanger?: boolean;
  isWide?: boolean;
  /** It may be closed while it works: what is done goes on, or is aborted by whoever opened it. */
  canLeave?: boolean;
  /** Nothing can be done yet, or nothing is to do. */
  isIdle?: boolean;
  onSubmit: (fields: FormData) => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
};

/** A dialog that does something: closes when it is done, and stays with the failure when it could not be. */
export function FormDialog(props: FormDialogProps) {
  const action = useAction();
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      staysOpen={action.isBusy && !props.canLeave}
      {...(props.isWide && { isWide: true })}
    >
      <FormOf {...props} action={action} />
    </Dialog>
  );
}

/** Fields that the service has under another name. */
const fieldOf: Record<string, string> = {
  recipients: "destination",
  url: "destination",
  webhookUrl: "destination",
};

/** A failure that is about one of the form's fields, such as "name must be a domain name" or "config.recipients.0 must be …". */
function problemOf(failure: Failure | undefined, names: readonly string[]) {
  const [, path = "", text = ""] = /^(\w+(?:\.\w+)*):? (.+)$/.exec(failure?.message ?? "") ?? [];
  const last =
    path
      .replace(/(?:\.\d+)+$/, "")
      .split(".")
      .at(-1) ?? "";
  const name = names.includes(last) ? last : (fieldOf[last] ?? "");
  return failure?.status === 400 && names.includes(name) ? { name, text } : undefined;
}

function FormOf({
  submit,
  isDanger,
  canLeave,
  isIdle = false,
  onSubmit,
  onClose,
  action,
  children,
}: FormDialogProps & { action: Action }) {
  const names = useRef<string[]>([]);
  const problem = useMemo(() => problemOf(action.failure, names.current), [action.failure]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isIdle) return;
        const fields = new FormData(event.currentTarget);
        names.current = [...fields.keys()];
        void action.run(() => onSubmit(fields)).then((isDone) => isDone && onClose());
      }}
    >
      <FieldProblem.Provider value={problem}>{children}</FieldProblem.Provider>
      {action.failure !== undefined && problem === undefined && <FailureNotice failure={action.failure} />}
      <div class="buttons">
        <Button disabled={action.isBusy && !canLeave} onClick={onClose}>
          Cancel
        </Button>
        <Button isSubmit kind={isDanger ? "danger" : "primary"} isBusy={action.isBusy} disabled={isIdle}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
