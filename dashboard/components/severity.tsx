import type { Finding } from "../api/routes.ts";
import type { Column } from "./table.tsx";

export type Severity = Finding["severity"];

/** Worst first. */
export const severities = ["critical", "high", "medium", "low"] as const satisfies readonly Severity[];

const severityName = (severity: Severity): string =>
  `${severity.charAt(0).toUpperCase()}${severity.slice(1)}`;

export const severityChoices = severities.map((value) => ({ value, label: severityName(value) }));

export const severityColumn: Column<{ severity: Severity | null }> = {
  name: "Severity",
  width: "word",
  cell: ({ severity }) => (severity === null ? <span class="muted">–</span> : SeverityMark({ severity })),
};

/** How bad it is: word, colour and a shape, so that none is told by its colour alone. */
export function SeverityMark({ severity }: { severity: Severity }) {
  return <span class={`severity ${severity}`}>{severityName(severity)}</span>;
}
