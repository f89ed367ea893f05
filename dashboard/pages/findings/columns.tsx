import type { Finding } from "../../api/routes.ts";
import { Name } from "../../components/name.tsx";
import type { Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { inBothForms } from "../../text/domain-name.ts";

export function FindingState({ finding: { acknowledged, resolution } }: { finding: Finding }) {
  if (!acknowledged) return <span class="state open">Open</span>;
  return <span class="state">{resolution === "ignored" ? "Ignored" : "Handled"}</span>;
}

type Options = {
  chosen: ReadonlySet<number>;
  /** Whether all that match are selected, on whatever page. */
  isAll: boolean;
  shown: readonly Finding[];
  setChosen: (chosen: ReadonlySet<number>) => void;
  onOpen: (finding: Finding) => void;
};

/** A request names at most so many findings by their ids. */
const mostChosen = 1000;

export function columns({ chosen, isAll, shown, setChosen, onOpen }: Options): Column<Finding>[] {
  const toggle = (ids: readonly number[], isOn: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (!isOn) next.delete(id);
      else if (next.size < mostChosen) next.add(id);
    }
    setChosen(next);
  };
  const isWholePage = shown.length > 0 && shown.every(({ id }) => chosen.has(id));
  return [
    {
      name: "Select",
      kind: "select",
      head: (
        <input
          type="checkbox"
          aria-label="Select this page"
          checked={isAll || isWholePage}
          disabled={isAll}
          onChange={(event) =>
            toggle(
              shown.map(({ id }) => id),
              event.currentTarget.checked,
            )
          }
        />
      ),
      cell: ({ id, email, breach }) => (
        <input
          type="checkbox"
          aria-label={`Select ${email} in ${breach.title}`}
          checked={isAll || chosen.has(id)}
          disabled={isAll}
          onChange={(event) => toggle([id], event.currentTarget.checked)}
        />
      ),
    },
    {
      name: "Address",
      kind: "main",
      cell: (finding) => (
        <button
          type="button"
          class="link"
          aria-haspopup="dialog"
          aria-description="Details of this finding"
          onClick={() => onOpen(finding)}
        >
          {inBothForms(finding.email)}
        </button>
      ),
    },
    {
      name: "Owner",
      cell: ({ ownerName, team }) => (
        <>
          <Name text={ownerName} />
          {team !== null && (
            <small>
              <Name text={team.name} />
            </small>
          )}
        </>
      ),
    },
    { name: "Breach", cell: ({ breach }) => breach.title },
    { name: "Exposed", cell: ({ breach }) => <span class="fine">{breach.dataClasses.join(", ")}</span> },
    { name: "First seen", cell: ({ firstDetectedAt }) => <When time={firstDetectedAt} /> },
    { name: "State", cell: (finding) => <FindingState finding={finding} /> },
  ];
}
