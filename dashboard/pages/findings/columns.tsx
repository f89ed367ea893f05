import type { Finding } from "../../api/routes.ts";
import { DetailsButton } from "../../components/button.tsx";
import { Name } from "../../components/name.tsx";
import { severityColumn } from "../../components/severity.tsx";
import type { Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { knownDay } from "../../text/dates.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { withMarks } from "../emails/person-marks.tsx";

export function FindingState({ finding: { acknowledged, resolution } }: { finding: Finding }) {
  if (!acknowledged) return <span class="state open">Open</span>;
  return <span class="state">{resolution === "ignored" ? "Ignored" : "Handled"}</span>;
}

type BreachNameProps = { breach: Pick<Finding["breach"], "title" | "breachDate">; href?: string };

/** The title of a breach, which leads to `href`, and its year. */
export function BreachName({ breach: { title, breachDate }, href }: BreachNameProps) {
  return (
    <span class="tailed" title={title}>
      {href === undefined ? (
        <bdi>{title}</bdi>
      ) : (
        <a href={href}>
          <bdi>{title}</bdi>
        </a>
      )}{" "}
      <small>{knownDay(breachDate)?.slice(0, 4)}</small>
    </span>
  );
}

/** The websites whose logins a stealer log has, with a mark on those of the organization. */
export function StolenLogins({ stealerLogDomains = [], ownLogins = [] }: Finding) {
  if (stealerLogDomains.length === 0) return <span class="muted">–</span>;
  const others = stealerLogDomains.slice(ownLogins.length).join(", ");
  return (
    <>
      {ownLogins.length > 0 && (
        <>
          <strong>
            <bdi>{ownLogins.join(", ")}</bdi>
          </strong>{" "}
          <small>yours</small>{" "}
        </>
      )}
      <bdi>{others}</bdi>
    </>
  );
}

type ColumnOptions = {
  /** The page around says which breach it is. */
  isOfBreach: boolean;
  /** All are open. */
  isOpen: boolean;
  /** Some of them are of a stealer log whose websites are known. */
  hasLogins: boolean;
};

/** What is the same in all rows is no column. */
export const columns = (
  onOpen: (finding: Finding) => void,
  { isOfBreach, isOpen, hasLogins }: ColumnOptions,
): Column<Finding>[] => [
  ...(isOfBreach ? [] : [severityColumn]),
  {
    name: "Address",
    kind: "main",
    width: "address",
    cell: (finding) =>
      withMarks(
        <DetailsButton
          id={`finding-${finding.id}`}
          about="Details of this finding"
          title={finding.email}
          onClick={() => onOpen(finding)}
        >
          <bdi>{inBothForms(finding.email)}</bdi>
        </DetailsButton>,
        finding,
      ),
  },
  // The address says whose it is, and a phone has room for the breach.
  { name: "Owner", isMinor: !isOfBreach, cell: ({ ownerName }) => Name({ text: ownerName }) },
  ...(isOfBreach
    ? [{ name: "Team", cell: ({ team }: Finding) => <Name text={team?.name ?? null} /> }]
    : [breachColumn, { ...exposed, isMinor: true }]),
  ...(isOfBreach && hasLogins ? [{ name: "Logins stolen for", cell: StolenLogins }] : []),
  { ...firstSeen, isMinor: !isOfBreach },
  ...(isOpen ? [] : [state]),
];

const breachColumn: Column<Finding> = {
  name: "Breach",
  width: "title",
  cell: BreachName,
};

export const exposed: Column<Finding> = {
  name: "Exposed",
  cell: ({ breach }) => exposedBy(breach),
};

export const firstSeen: Column<Finding> = {
  name: "First seen",
  width: "time",
  cell: ({ firstDetectedAt }) => <When time={firstDetectedAt} />,
};

export const state: Column<Finding> = {
  name: "State",
  width: "word",
  cell: (finding) => FindingState({ finding }),
};

/** What leaked, worst first. */
export const exposedBy = ({ dataClasses }: Pick<Finding["breach"], "dataClasses">): string =>
  dataClasses.join(", ");
