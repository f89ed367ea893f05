import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Form, type FormProps } from "./form.tsx";
import { useAction } from "./use-action.ts";

type DialogProps = {
  title: string;
  onClose: () => void;
  /** Esc does nothing but `onEscape`. */
  staysOpen?: boolean;
  onEscape?: () => void;
  isWide?: boolean;
  /** It is there to be read, so that the focus begins at its heading. */
  isText?: boolean;
  /** The name of a button that closes it, where nothing else can be done. */
  button?: string;
  children: ComponentChildren;
};

/** A modal dialog. The browser moves the focus into it, and back when it closes. */
export function Dialog({
  title,
  onClose,
  staysOpen = false,
  onEscape,
  isWide = false,
  isText = false,
  button,
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
        // It goes at once: the event "close" comes later, and would close a dialog that opened meanwhile.
        event.preventDefault();
        if (staysOpen) onEscape?.();
        else onClose();
      }}
      onClose={(event) => {
        // The event of a dialog that is gone must not close one that was opened since.
        if (!event.currentTarget.isConnected) return;
        // Browsers close a dialog at the second Esc, whatever the page says.
        if (!staysOpen) return onClose();
        event.currentTarget.showModal();
        onEscape?.();
      }}
    >
      <h2 id={heading} {...(isText && { tabIndex: -1, autofocus: true })}>
        {title}
      </h2>
      {children}
      {button !== undefined && (
        <div class="buttons">
          <Button onClick={onClose}>{button}</Button>
        </div>
      )}
    </dialog>
  );
}

/** What a dialog calls: `onDone` when it has changed something, `onClose` when it is over. */
export type Ends = { onClose: () => void; onDone: () => void };

export type Show = (make: (ends: Ends) => VNode) => void;

/**
 * The one dialog that a page shows. `show` opens it; each closes no other than itself, so that one can open the next.
 */
export function useDialog(onDone: () => void = () => {}) {
  const [dialog, setDialog] = useState<VNode>();
  const show: Show = (make) => {
    const onClose = (): void => setDialog((now) => (now === made ? undefined : now));
    const made = make({ onClose, onDone });
    setDialog(made);
  };
  return { dialog, show };
}

type FormDialogProps = Omit<FormProps, "action" | "cancel"> & {
  title: string;
  onClose: () => void;
};

/** A dialog that does something: closes when it is done, and stays with the failure when it could not be. */
export function FormDialog({ title, onClose, ...form }: FormDialogProps) {
  const action = useAction();
  return (
    <Dialog title={title} onClose={onClose} staysOpen={action.isBusy && form.canLeave !== true}>
      <Form {...form} action={action} cancel={onClose} />
    </Dialog>
  );
}

type ConfirmProps = Ends & {
  title: string;
  submit: string;
  /** Does it, and resolves to the words that people then read. */
  act: () => Promise<string>;
  /** What it means, as a paragraph. */
  children: ComponentChildren;
};

/** Asks before something that is lost for good, or that others notice, and does it. */
export const Confirm = ({ act, children, ...rest }: ConfirmProps) => (
  <FormDialog {...rest} kind="danger" onSubmit={act}>
    <p>{children}</p>
  </FormDialog>
);
