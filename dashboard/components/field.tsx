import type { ComponentChildren, TargetedEvent } from "preact";
import { useId } from "preact/hooks";

type TextFieldProps = {
  label: string;
  name: string;
  type?: "text" | "email" | "url" | "file";
  hint?: ComponentChildren;
  defaultValue?: string;
  required?: boolean;
  maxLength?: number;
  placeholder?: string;
  accept?: string;
  autocomplete?: "off" | "email";
  /** "auto" for what may be written from right to left. */
  dir?: "auto";
  onInput?: (event: TargetedEvent<HTMLInputElement>) => void;
  onChange?: (event: TargetedEvent<HTMLInputElement>) => void;
};

export function TextField({ label, hint, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...(input as object)}
        id={id}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

type TextAreaProps = { label: string; name: string; maxLength: number; hint?: ComponentChildren };

export function TextArea({ label, name, maxLength, hint }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} name={name} rows={3} maxLength={maxLength} aria-describedby={`${id}-hint`} />
      <small id={`${id}-hint`}>{hint}</small>
    </div>
  );
}

export type Choice = { value: string; label: string };

type SelectFieldProps = {
  label: string;
  name: string;
  choices: readonly Choice[];
  chosen?: string | undefined;
  hint?: ComponentChildren;
  onChange?: (value: string) => void;
};

export function SelectField({ label, name, choices, chosen, hint, onChange }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {choices.map(({ value, label }) => (
          <option key={value} value={value} selected={value === chosen}>
            {label}
          </option>
        ))}
      </select>
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

export function CheckField({ label, name, isChecked }: { label: string; name: string; isChecked: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={isChecked} /> {label}
    </label>
  );
}
