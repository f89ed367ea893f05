import { type ComponentChildren, createContext, type JSX, type TargetedEvent } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { sentenceAbout } from "../text/problem.ts";

/** What the service refuses about a field of the form. */
export const FieldProblem = createContext<{ name: string; text: string } | undefined>(undefined);

type Control = HTMLInputElement | HTMLTextAreaElement;

/** What the browser refuses, in words. */
function problemOf(field: Control, label: string, missing: string): string {
  const { valueMissing, tooShort, typeMismatch } = field.validity;
  if (valueMissing) return missing;
  if (tooShort) return `${label} must have at least ${field.minLength} characters.`;
  if (!typeMismatch) return field.validationMessage;
  return field.type === "email"
    ? "Write an e-mail address such as ada@example.com."
    : "Write a URL that begins with https://.";
}

/**
 * What is wrong with a field, as a sentence beside it: the browser's bubbles go after seconds, and speak of no field.
 */
function useProblem(label: string, name: string, missing = `${label} is missing.`) {
  const [problem, setProblem] = useState<string>();
  const control = useRef<Control>(null);
  const refused = useContext(FieldProblem);
  // Layout effects run before the next key is handled, so that the focus never moves while somebody types.
  useLayoutEffect(() => {
    if (refused?.name !== name) return;
    setProblem(sentenceAbout(label, refused.text));
    control.current?.focus();
  }, [refused]);
  const onInvalid = (event: TargetedEvent<Control>): void => {
    event.preventDefault();
    const field = event.currentTarget;
    setProblem(problemOf(field, label, missing));
    if (field.form?.querySelector(":is(input, select, textarea):invalid") === field) field.focus();
  };
  return { problem, control, onInvalid, clear: () => setProblem(undefined) };
}

type FieldProps = {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
  /** The control, with what ties it to label, problem and hint. */
  control: (ties: { id: string; "aria-describedby": string | undefined }) => JSX.Element;
};

function Field({ label, hint, problem, control }: FieldProps) {
  const id = useId();
  const described = [problem !== undefined && `${id}-problem`, hint !== undefined && `${id}-hint`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({ id, "aria-describedby": described.filter(Boolean).join(" ") || undefined })}
      {problem !== undefined && (
        <small id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </small>
      )}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

type TextFieldProps = Omit<JSX.IntrinsicElements["input"], "label" | "name" | "onInput"> & {
  label: string;
  name: string;
  hint?: ComponentChildren;
  /** What the field says when it is required and empty. */
  missing?: string;
  /** Makes it a text area of so many lines. */
  rows?: number;
  beside?: ComponentChildren;
  onInput?: (event: TargetedEvent<HTMLInputElement>) => void;
};

export function TextField({ label, hint, missing, beside, onInput, ...input }: TextFieldProps) {
  const { problem, control, onInvalid, clear } = useProblem(label, input.name, missing);
  // A button beside the field may have filled it. An effect after the frame would also clear the problem that
  // Enter has just shown.
  useLayoutEffect(clear, [input.value]);
  const attributes = {
    ...input,
    ref: control,
    "aria-invalid": problem !== undefined,
    onInvalid,
    onInput: (event: TargetedEvent<HTMLInputElement>) => {
      clear();
      onInput?.(event);
    },
  } as object;
  const Element = input.rows === undefined ? "input" : "textarea";
  return (
    <Field
      label={label}
      hint={hint}
      problem={problem}
      control={(ties) =>
        beside === undefined ? (
          <Element {...attributes} {...ties} />
        ) : (
          <div class="together">
            <Element {...attributes} {...ties} />
            {beside}
          </div>
        )
      }
    />
  );
}

export const EmailField = (more: Partial<TextFieldProps>) => (
  <TextField
    label="E-mail address"
    name="email"
    type="email"
    required
    maxLength={254}
    autocomplete="off"
    {...more}
  />
);

/** `isName`: nobody translates it. */
export type Choice = { value: string; label: string; isName?: boolean };

export const Option = ({ value, label, isName, selected }: Choice & { selected?: boolean }) => (
  <option value={value} selected={selected} {...(isName && { translate: false })}>
    {label}
  </option>
);

type SelectFieldProps = {
  label: string;
  name: string;
  choices: readonly Choice[];
  chosen?: string | undefined;
  hint?: ComponentChildren;
  onChange?: (value: string) => void;
};

export function SelectField({ label, name, choices, chosen, hint, onChange }: SelectFieldProps) {
  const { problem, control, clear } = useProblem(label, name);
  return (
    <Field
      label={label}
      hint={hint}
      problem={problem}
      control={(ties) => (
        <select
          {...ties}
          ref={control as unknown as { current: HTMLSelectElement | null }}
          name={name}
          onChange={(event) => {
            clear();
            onChange?.(event.currentTarget.value);
          }}
        >
          {choices.map((choice) => (
            <Option key={choice.value} {...choice} selected={choice.value === chosen} />
          ))}
        </select>
      )}
    />
  );
}

export function CheckField({ label, name, isChecked }: { label: string; name: string; isChecked: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={isChecked} /> {label}
    </label>
  );
}
