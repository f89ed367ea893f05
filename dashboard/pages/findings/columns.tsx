import type { Finding } from "../../api/routes.ts";
import { DetailsButton } from "../../components/button.tsx";
import { SeverityMark } from "../../components/severity.tsx";
import type { Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { inBothForms } from "../../text/domain-name.ts";

export function FindingState({ finding: { acknowledged, resolution } }: { finding: Finding }) {
  if (!acknowledged) return <span class="state open">Open</span>;
  return <span class="state">{resolution === "ignored" ? "Ignored" : "Handled"}</span>;
}

/** Of a date such as "2026-01-31". */
export const yearOf = (date: string): string => date.slice(0, 4);

export const columns = (onOpen: (finding: Finding) => void): Column<Finding>[] => [
  { name: "Severity", width: "word", cell: ({ severity }) => <SeverityMark severity={severity} /> },
  {
    name: "Address and owner",
    kind: "main",
    cell: (finding) => (
      <>
        <DetailsButton about="Details of this finding" title={finding.email} onClick={() => onOpen(finding)}>
          {inBothForms(finding.email)}
        </DetailsButton>
        <Owner finding={finding} />
      </>
    ),
  },
  {
    name: "Breach",
    cell: ({ breach: { title, breachDate } }) => (
      <span class="tailed" title={title}>
        <span>{title}</span> <small>{yearOf(breachDate)}</small>
      </span>
    ),
  },
  {
    name: "Exposed",
    cell: ({ breach }) => <Exposed breach={breach} />,
  },
  { name: "First seen", width: "time", cell: ({ firstDetectedAt }) => <When time={firstDetectedAt} /> },
  { name: "State", width: "word", cell: (finding) => <FindingState finding={finding} /> },
];

function Owner({ finding: { ownerName, team } }: { finding: Finding }) {
  const names = [ownerName, team?.name].filter((name) => name != null);
  if (names.length === 0) return null;
  return (
    <small>
      {names.map((name) => (
        <bdi key={name} class="clamp" title={name}>
          {name}
        </bdi>
      ))}
    </small>
  );
}

/** What leaked, worst first. */
export function Exposed({ breach: { dataClasses } }: { breach: Pick<Finding["breach"], "dataClasses"> }) {
  const text = dataClasses.join(", ");
  return (
    <span class="fine" title={text}>
      {text}
    </span>
  );
}
