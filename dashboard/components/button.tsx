import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "class" | "type" | "disabled"> & {
  kind?: "primary" | "danger" | "quiet" | undefined;
  isBusy?: boolean;
  disabled?: boolean;
  isSubmit?: boolean;
  children: ComponentChildren;
};

/** Busy and disabled buttons do nothing, and keep the focus: browsers take it from what gets `disabled`. */
export function Button({
  kind,
  isBusy = false,
  disabled = false,
  isSubmit = false,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const isOff = isBusy || disabled;
  return (
    <button
      {...rest}
      type={isSubmit ? "submit" : "button"}
      class={`button ${kind ?? ""}`}
      aria-busy={isBusy || undefined}
      aria-disabled={isOff || undefined}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {children}
    </button>
  );
}

type DetailsButtonProps = {
  about: string;
  id?: string;
  title?: string;
  onClick: () => void;
  children: ComponentChildren;
};

/** A name in a table that opens the details of its row in a dialog. */
export function DetailsButton({ about, children, ...rest }: DetailsButtonProps) {
  return (
    <button {...rest} type="button" class="link" aria-haspopup="dialog" aria-description={about}>
      {children}
    </button>
  );
}

type CopyButtonProps = { text: string; about: string; onCopied?: () => void };

/** Copies a text, and says whether it could. */
export function CopyButton({ text, about, onCopied }: CopyButtonProps) {
  const [result, setResult] = useState("");
  const timer = useRef(0);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setResult("Copied");
      onCopied?.();
    } catch {
      setResult("Could not copy: select the text instead");
    }
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setResult(""), 4_000);
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
