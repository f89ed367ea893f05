import { type ComponentChildren, createContext, type TargetedEvent } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";

/** What the service says is wrong with a field of the form, such as "must be a domain name", or a sentence without the field. */
export const FieldProblem = createContext<{ name: string; text: string } | undefined>(undefined);

type Control = HTMLInputElement | HTMLTextAreaElement;

/** What is wrong with a field, as a sentence beside it: the browser's bubbles go after seconds, and speak of no field. */
function useProblem(label: string, name: string, missing = `${label} is missing.`) {
  const [problem, setProblem] = useState<string>();
  const control = useRef<Control>(null);
  const refused = useContext(FieldProblem);
  useEffect(() => {
    if (refused?.name !== name) return;
    const { text } = refused;
    setProblem(/^(must|is|has|can)\b/.test(text) ? `${label} ${text}` : text);
    control.current?.focus();
  }, [refused]);
  const onInvalid = (event: TargetedEvent<Control>): void => {
    event.preventDefault();
    const field = event.currentTarget;
    setProblem(field.validity.valueMissing ? missing : `${label}: ${field.validationMessage}`);
    if (field.form?.querySelector(":is(input, select, textarea):invalid") === field) field.focus();
  };
  return { problem, control, onInvalid, clear: () => setProblem(undefined) };
}

function Problem({ id, text }: { id: string; text: string | undefined }) {
  return text === undefined ? null : (
    <small id={id} class="problem" role="alert">
      {text}
    </small>
  );
}

type TextFieldProps = {
  label: string;
  name: string;
  type?: "text" | "email" | "url" | "file" | "datetime-local";
  hint?: ComponentChildren;
  defaultValue?: string;
  required?: boolean;
  /** What the field says when it is required and empty. */
  missing?: string;
  maxLength?: number;
  placeholder?: string;
  accept?: string;
  autocomplete?: "off" | "email webauthn";
  /** "auto" for what may be written from right to left. */
  dir?: "auto";
  onInput?: (event: TargetedEvent<HTMLInputElement>) => void;
  onChange?: (event: TargetedEvent<HTMLInputElement>) => void;
};

export function TextField({ label, hint, missing, onInput, ...input }: TextFieldProps) {
  const id = useId();
  const { problem, control, onInvalid, clear } = useProblem(label, input.name, missing);
  const described = [problem !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...(input as object)}
        ref={control as { current: HTMLInputElement | null }}
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={described.filter(Boolean).join(" ") || undefined}
        onInvalid={onInvalid}
        onInput={(event) => {
          clear();
          onInput?.(event);
        }}
      />
      <Problem id={`${id}-problem`} text={problem} />
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

type TextAreaProps = Pick<TextFieldProps, "label" | "name" | "hint" | "required" | "missing"> & {
  maxLength: number;
};

export function TextArea({ label, hint, missing, ...area }: TextAreaProps) {
  const id = useId();
  const { problem, control, onInvalid, clear } = useProblem(label, area.name, missing);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        {...(area as object)}
        ref={control as { current: HTMLTextAreaElement | null }}
        id={id}
        rows={3}
        aria-invalid={problem !== undefined}
        aria-describedby={`${problem === undefined ? "" : `${id}-problem `}${id}-hint`}
        onInvalid={onInvalid}
        onInput={clear}
      />
      <Problem id={`${id}-problem`} text={problem} />
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
