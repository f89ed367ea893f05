/** What an import of a file would do, from what an import of each part would do. */
import type { ImportPlan, ImportRow, Reply } from "../../api/routes.ts";

export type Part = { file: File; plan: ImportPlan };

export type Billing = Reply<"GET /dashboard/organization">["billing"];

type Columns = NonNullable<ImportPlan["columns"]>;

/** What a file holds, and what its import would do. */
export type Preview = {
  parts: Part[];
  /** The encoding that the file was read as, if it is not known. */
  guess: string | undefined;
  /** All rows of the file; `rows` are those of `parts`. */
  allRows: ImportRow[];
  departed: Columns["departed"];
  rows: ImportRow[];
  quote: ImportPlan["quote"];
  billing: Billing;
  columns: Omit<Columns, "departed">;
};

/** Who has left, as the file says, and does not stand in another part as somebody who has come back. */
export function departedOf(parts: readonly Part[]): Columns["departed"] {
  const departed = parts.map(({ plan }) => new Map(plan.columns?.departed.map((each) => [each.email, each])));
  const rowsHere = parts.flatMap(({ plan }, at) =>
    plan.emails.filter(({ email }) => !departed[at]?.has(email)),
  );
  const here = new Set(rowsHere.map(({ email }) => email));
  return [...new Map(departed.flatMap((each) => [...each])).values()].filter(({ email }) => !here.has(email));
}

/** All parts as one: what one import of them would do. */
export function summaryOf(
  parts: Part[],
  billing: Billing,
  leavesOut: boolean,
): Pick<Preview, "parts" | "rows" | "quote" | "billing" | "columns"> {
  const left = new Set(leavesOut ? departedOf(parts).map(({ email }) => email) : []);
  const seen = new Set<string>();
  const rows = parts.flatMap(({ plan }) => {
    const some = plan.emails
      .filter(({ email }) => !left.has(email))
      .map(
        (row): ImportRow =>
          row.status !== "invalid" && seen.has(row.email) ? { ...row, status: "duplicate" } : row,
      );
    for (const { email } of some) seen.add(email);
    return some;
  });
  const [first] = parts;
  if (first === undefined) throw new Error("A file has a part");
  const { used = [], ignored = [] } = first.plan.columns ?? {};
  const withoutAddress = parts.flatMap(({ plan }) => plan.columns?.withoutAddress ?? []);
  const wanted = rows.filter(({ status }) => status === "will_import").length;
  const quote = parts.length === 1 ? first.plan.quote : quoteOf(wanted, billing);
  return { parts, rows, quote, billing, columns: { used, ignored, withoutAddress } };
}

/** As the service quotes one import. */
function quoteOf(
  wanted: number,
  { activeCount, seatAllowance, seatPriceCents, interval }: Billing,
): ImportPlan["quote"] {
  const room = seatAllowance === null ? wanted : Math.max(0, seatAllowance - activeCount);
  const newActiveCount = activeCount + Math.min(wanted, room);
  const newSeatsCount = Math.max(1, newActiveCount);
  const estimatedDeltaCents = (newSeatsCount - Math.max(1, activeCount)) * seatPriceCents;
  return { interval, isEstimate: true, newActiveCount, newSeatsCount, estimatedDeltaCents };
}
