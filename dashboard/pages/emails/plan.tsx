import type { ImportPlan } from "../../api/routes.ts";
import { type Column, Table } from "../../components/table.tsx";
import { inBothForms } from "../../text/domain-name.ts";
import { count, money, number } from "../../text/words.ts";

type Row = ImportPlan["emails"][number] & { line: number };

const statuses: Record<Row["status"], string> = {
  will_import: "Will be imported",
  already_monitored: "Watched already",
  duplicate: "Stands further up in the file",
  invalid: "Not an address of a verified domain",
};

/** What the import costs. */
export function Quote({ plan: { quote } }: { plan: Pick<ImportPlan, "quote"> }) {
  const { estimatedDeltaCents: delta, interval } = quote;
  return (
    <p class="quote">
      After it <strong>{count(quote.newActiveCount, "address is", "addresses are")} watched</strong> and{" "}
      {count(quote.newSeatsCount, "seat is", "seats are")} paid:{" "}
      <strong>
        {delta === 0 ? "no change of the price" : `${delta > 0 ? "+" : ""}${money(delta)} per ${interval}`}
      </strong>
      {quote.isEstimate && delta !== 0 && ", an estimate"}.
    </p>
  );
}

const columns: Column<Row>[] = [
  { name: "Address", kind: "main", cell: ({ email }) => <bdi>{inBothForms(email)}</bdi> },
  { name: "Owner", cell: ({ ownerName }) => <bdi>{ownerName ?? "–"}</bdi> },
  { name: "Team", cell: ({ team }) => <bdi>{team ?? "–"}</bdi> },
  {
    name: "Status",
    cell: ({ status }) => (
      <span class={`state ${status === "will_import" ? "good" : "off"}`}>{statuses[status]}</span>
    ),
  },
];

/** Each row of the file, and what becomes of it. */
export function PlanRows({ plan }: { plan: ImportPlan }) {
  const rows = plan.emails.map((row, line) => ({ ...row, line }));
  const hasTeams = rows.some(({ team }) => team !== undefined);
  const left = rows.filter(({ status }) => status !== "will_import").length;
  return (
    <>
      {left > 0 && <p>{`${number(left)} of ${count(rows.length, "row")} will not be imported.`}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label="Preview">
        <Table
          caption="Rows of the file"
          columns={columns.filter(({ name }) => hasTeams || name !== "Team")}
          rows={rows}
          keyOf={({ line }) => line}
        />
      </section>
    </>
  );
}
