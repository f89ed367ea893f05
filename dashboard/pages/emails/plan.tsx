import type { ImportPlan, ImportRow } from "../../api/routes.ts";
import { teamChoices } from "../../components/choices.ts";
import { type Column, Table } from "../../components/table.tsx";
import { useData } from "../../components/use-data.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses, count, money, number } from "../../text/words.ts";
import type { Preview } from "./summary.ts";

type Kind = "malformed" | "foreign" | Exclude<ImportRow["status"], "invalid">;
/** `id`: its place in the file. */
type Row = ImportRow & { id: number; kind: Kind };

/** Problems first, unchanged rows last. The words about one row, and those about a number of rows. */
const kinds: Record<Kind, { about: string; many: string }> = {
  malformed: { about: "Not an e-mail address", many: "malformed" },
  foreign: { about: "Not at a domain that you have verified", many: "of another domain" },
  duplicate: { about: "Already further up in the file", many: "repeated" },
  will_import: { about: "Will be imported", many: "to import" },
  already_monitored: { about: "Already watched", many: "already watched" },
};
const order = Object.keys(kinds) as Kind[];

const kindOf = ({ email, status }: ImportRow): Kind => {
  if (status !== "invalid") return status;
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) ? "foreign" : "malformed";
};

/** Of a price speaks only who has set one. */
export function Quote({ plan: { quote } }: { plan: Pick<ImportPlan, "quote"> }) {
  const { estimatedDeltaCents: delta, interval } = quote;
  return (
    <p class="quote">
      After that <strong>{count(quote.newActiveCount, "address is", "addresses are")} watched</strong>
      {delta !== 0 && (
        <>
          {" "}
          and {count(quote.newSeatsCount, "seat is", "seats are")} paid:{" "}
          <strong>
            {delta > 0 && "+"}
            {money(delta)} per {interval}
          </strong>
          {quote.isEstimate && ", an estimate"}
        </>
      )}
      .
    </p>
  );
}

type DepartedProps = {
  of: Preview["departed"];
  isLeftOut: boolean;
  isBusy: boolean;
  onChange: (isLeftOut: boolean) => void;
};

/** Those who have left, as a column of the file says, and the choice not to import them. */
export function Departed({ of, isLeftOut, isBusy, onChange }: DepartedProps) {
  if (of.length === 0) return null;
  const shown = of
    .slice(0, mostNames)
    .map(({ email, heading, value }) => `${inBothForms(email)} (${heading}: ${value})`);
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          checked={isLeftOut}
          disabled={isBusy}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />{" "}
        Leave out {addresses(of.length)} of people who have left or are suspended
      </label>
      <p class="muted">
        The file says so: <bdi>{shown.join(", ")}</bdi>
        {of.length > mostNames && ", …"}
      </p>
    </div>
  );
}

const columns: Column<Row>[] = [
  { name: "Address", kind: "main", cell: ({ email }) => <bdi>{inBothForms(email)}</bdi> },
  { name: "Owner", width: "name", cell: ({ ownerName }) => <bdi>{ownerName ?? "–"}</bdi> },
  { name: "Team", width: "time", cell: ({ team }) => <bdi>{team ?? "–"}</bdi> },
  {
    name: "Status",
    cell: ({ kind }) => {
      const look = kind === "will_import" ? "good" : kind === "already_monitored" ? "off" : "open";
      return <span class={`state ${look}`}>{kinds[kind].about}</span>;
    },
  },
];

/** More are counted. */
const mostShown = 500;

/** Names of those without an address are shown up to so many. */
const mostNames = 20;

type PlanProps = Pick<Preview, "rows" | "columns">;

/** What becomes of the file's rows, how many of each kind there are, and what of the file is read. */
export function PlanRows({ rows, columns: headings }: PlanProps) {
  const all = rows
    .map((row, id): Row => ({ ...row, id, kind: kindOf(row) }))
    .sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || one.id - other.id);
  const counts = order.flatMap((kind) => {
    const rowCount = all.filter((row) => row.kind === kind).length;
    return rowCount === 0 ? [] : [`${number(rowCount)} ${kinds[kind].many}`];
  });
  const { withoutAddress } = headings;
  const names = all.flatMap(({ kind, team }) => (kind === "will_import" && team ? [team] : []));
  return (
    <>
      <p>
        <strong>{count(all.length, "row")}</strong>: {counts.join(", ")}
      </p>
      {headings.used.length + headings.ignored.length > 0 && (
        <p>
          Columns that are read: <bdi>{headings.used.join(", ") || "none"}</bdi>; ignored:{" "}
          <bdi>{headings.ignored.join(", ") || "none"}</bdi>
        </p>
      )}
      {withoutAddress.length > 0 && (
        <p>
          {count(withoutAddress.length, "row has", "rows have")} no address and will not be imported:{" "}
          <bdi>{withoutAddress.slice(0, mostNames).join(", ")}</bdi>
          {withoutAddress.length > mostNames && ", …"}
        </p>
      )}
      {names.length > 0 && <NewTeams names={names} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="scroll dense" tabIndex={0} aria-label="Preview">
        <Table
          caption="Rows of the file"
          columns={columns.filter(
            ({ name }) => name !== "Team" || all.some(({ team }) => team !== undefined),
          )}
          rows={all.slice(0, mostShown)}
        />
      </section>
      {all.length > mostShown && <p>And {number(all.length - mostShown)} more.</p>}
    </>
  );
}

/** As the service compares names of teams. */
const comparable = (name: string): string => name.normalize("NFKC").toLowerCase();

function NewTeams({ names }: { names: readonly string[] }) {
  const { value: teams } = useData("", teamChoices);
  if (teams === undefined) return null;
  const there = new Set(teams.map(({ label }) => comparable(label)));
  const missing = new Map(names.map((name) => [comparable(name), name]));
  for (const name of there) missing.delete(name);
  if (missing.size === 0) return null;
  return (
    <p>
      Teams that will be created: <bdi>{[...missing.values()].join(", ")}</bdi>
    </p>
  );
}
