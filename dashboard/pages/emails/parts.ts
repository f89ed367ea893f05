import { call } from "../../api/client.ts";
import { Failure } from "../../api/failure.ts";
import type { ImportPlan, ImportRow } from "../../api/routes.ts";
import { decode } from "../../text/encoding.ts";
import { partsOf } from "../../text/parts.ts";
import { number } from "../../text/words.ts";

/** A request takes at most so many addresses. */
const mostRows = 500;

/** Of 20 previews an hour each part takes two: its price depends on the parts before. */
const mostParts = 10;

export type Part = { file: File; plan: ImportPlan };

/** What a file holds, and what its import would do. */
export type Preview = {
  parts: Part[];
  /** The encoding that the file was read as, if it is not known. */
  guess: string | undefined;
  /** All rows of the file; `rows` are those of `parts`. */
  allRows: ImportRow[];
  rows: ImportRow[];
  quote: ImportPlan["quote"];
  columns: NonNullable<ImportPlan["columns"]>;
};

export const previewPart = (file: File, signal?: AbortSignal): Promise<ImportPlan> =>
  call("POST /v1/emails/import/preview", { file, query: { include: "columns" } }, signal && { signal });

/** Previews all parts of a file, and tells how far that is. @throws Failure */
export async function preview(
  file: File,
  onProgress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<Preview> {
  const { text, guess } = decode(new Uint8Array(await file.arrayBuffer()));
  if (text.includes("\0"))
    throw new Failure("The file is not a text file. Save a workbook as CSV UTF-8.", { status: 400 });
  const texts = partsOf(text, mostRows);
  if (texts.length > mostParts) {
    throw new Failure(
      `The file is too large: it has more than ${number(mostParts * mostRows)} addresses, or too much beside them. Split it, or ask the operator to import it with the command "email import".`,
      { status: 400 },
    );
  }
  const files = texts.length > 1 ? texts.map((part) => new File([part], "part.csv")) : [file];
  const parts: Part[] = [];
  for (const part of files) {
    onProgress(parts.length, files.length);
    parts.push({ file: part, plan: await previewPart(part, signal) });
  }
  const summary = summaryOf(parts);
  return { ...summary, allRows: summary.rows, guess };
}

/** All parts as one: what stands in an earlier part is repeated, and prices add up. */
export function summaryOf(parts: Part[]): Omit<Preview, "guess" | "allRows"> {
  const seen = new Set<string>();
  const rows = parts.flatMap(({ plan }) => {
    const some = plan.emails.map(
      (row): ImportRow =>
        row.status === "will_import" && seen.has(row.email) ? { ...row, status: "duplicate" } : row,
    );
    for (const { email } of plan.emails) seen.add(email);
    return some;
  });
  const [first, ...others] = parts.map(({ plan }) => plan);
  if (first === undefined) throw new Error("A file has a part");
  let { newActiveCount, newSeatsCount, estimatedDeltaCents, isEstimate } = first.quote;
  for (const { emails, quote } of others) {
    const added = emails.filter(({ status }) => status === "will_import").length;
    newActiveCount += added;
    newSeatsCount += added;
    estimatedDeltaCents += quote.estimatedDeltaCents;
    isEstimate = true;
  }
  const quote = { ...first.quote, newActiveCount, newSeatsCount, estimatedDeltaCents, isEstimate };
  const { used = [], ignored = [] } = first.columns ?? {};
  const withoutAddress = parts.flatMap(({ plan }) => plan.columns?.withoutAddress ?? []);
  return { parts, rows, quote, columns: { used, ignored, withoutAddress } };
}
