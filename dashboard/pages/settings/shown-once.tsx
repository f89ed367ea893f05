import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, CopyButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";

type ShownOnceProps = {
  title: string;
  /** What it is, such as "key". */
  noun: string;
  value: string;
  onClose: () => void;
  /** What is to be done with it, above and below. */
  before?: ComponentChildren;
  children?: ComponentChildren;
};

/** Shows a secret, and asks before it goes without having been copied: nobody can show it again. */
export function ShownOnce({ title, noun, value, onClose, before, children }: ShownOnceProps) {
  const [state, setState] = useState<"new" | "asking" | "copied">("new");
  const isCopied = state === "copied";
  useEffect(() => {
    if (isCopied) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isCopied]);
  const leave = (): void => (isCopied ? onClose() : setState("asking"));
  const noteCopy = (): void => {
    if (getSelection()?.toString().includes(value)) setState("copied");
  };
  return (
    <Dialog title={title} onClose={onClose} staysOpen={!isCopied} onEscape={leave}>
      {before}
      <p>Copy the {noun} now: it is shown only once.</p>
      <p class="secret" onCopy={noteCopy}>
        <code>{value}</code>{" "}
        <CopyButton text={value} about={`The ${noun}`} onCopied={() => setState("copied")} />
      </p>
      {children}
      {state === "asking" && (
        <p role="alert">You have not copied the {noun}. Once this is closed, nobody can show it again.</p>
      )}
      <div class="buttons">
        {state === "asking" && (
          <Button kind="danger" onClick={onClose}>
            Close without copying
          </Button>
        )}
        <Button onClick={leave}>Close</Button>
      </div>
    </Dialog>
  );
}
