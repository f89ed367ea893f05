import type { Finding } from "../api/routes.ts";

export type Severity = Finding["severity"];

/** Worst first. */
export const severities = ["critical", "high", "medium", "low"] as const satisfies readonly Severity[];

export const severityName = (severity: Severity): string =>
  `${severity.charAt(0).toUpperCase()}${severity.slice(1)}`;

export const severityChoices = severities.map((value) => ({ value, label: severityName(value) }));

/** A shape for each, so that none is told by its colour alone. */
const shapes: Record<Severity, string> = {
  critical: "M6 0l6 6-6 6-6-6z",
  high: "M6 1l6 10H0z",
  medium: "M2 2h8v8H2z",
  low: "M6 3a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
};

/** How bad it is: shape, word and colour. */
export function SeverityMark({ severity }: { severity: Severity }) {
  return (
    <span class={`severity ${severity}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d={shapes[severity]} />
      </svg>
      {severityName(severity)}
    </span>
  );
}
