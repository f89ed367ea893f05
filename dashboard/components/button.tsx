import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "class" | "type"> & {
  kind?: "primary" | "danger" | "quiet" | undefined;
  isBusy?: boolean;
  isSubmit?: boolean;
  children: ComponentChildren;
};

/** Busy buttons keep the focus and say that they are busy; they do nothing meanwhile. */
export function Button({ kind, isBusy = false, isSubmit = false, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={isSubmit ? "submit" : "button"}
      class={`button ${kind ?? ""}`}
      aria-busy={isBusy}
      aria-disabled={isBusy || undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {children}
    </button>
  );
}

/** Copies a text, and says whether it could. */
export function CopyButton({ text, about }: { text: string; about: string }) {
  const [result, setResult] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setResult("Copied");
    } catch {
      setResult("Not copied: select the text");
    }
    setTimeout(() => setResult(""), 4_000);
  };
  return (
    <span class="copy">
      <Button kind="quiet" aria-description={about} onClick={() => void copy()}>
        Copy
      </Button>
      <small role="status">{result}</small>
    </span>
  );
}
