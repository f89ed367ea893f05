import { call } from "../../api/client.ts";
import { Failure } from "../../api/failure.ts";
import type { ImportPlan } from "../../api/routes.ts";
import { number } from "../../text/words.ts";
import { decode } from "./encoding.ts";
import { partsOf } from "./file-parts.ts";
import { type Billing, departedOf, type Part, type Preview, summaryOf } from "./summary.ts";

/** A request takes at most so many addresses. */
const mostRows = 500;

/** Of 20 previews an hour each part takes two: its price depends on the parts before. */
const mostParts = 10;

/** `leavesOut`: those who have left, as the file says. */
export const previewPart = (file: File, leavesOut: boolean, signal?: AbortSignal): Promise<ImportPlan> =>
  call(
    "POST /v1/emails/import/preview",
    { file, query: { include: "columns", ...(leavesOut && { leaveOut: "departed" }) } },
    signal && { signal },
  );

/** Imports a part as it was previewed last. Nothing is asked of the service if the part has nothing to import. */
export async function commitPart({ plan }: Part): Promise<{ imported: number; disabled: number }> {
  const { emails, quote } = plan;
  if (!emails.some(({ status }) => status === "will_import")) return { imported: 0, disabled: 0 };
  const done = await call("POST /v1/emails/import/commit", { body: { emails, quote } });
  return { imported: done.importedCount, disabled: done.disabledCount };
}

export const billingNow = async (signal?: AbortSignal): Promise<Billing> =>
  (await call("GET /dashboard/organization", {}, signal && { signal })).billing;

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
      `The file is too large: it has more than ${number(mostParts * mostRows)} addresses, or too ` +
        `much beside them. Split it, or ask the operator to import it with the command "email ` +
        `import".`,
      { status: 400 },
    );
  }
  const files = texts.length > 1 ? texts.map((part) => new File([part], "part.csv")) : [file];
  const billing = await billingNow(signal);
  const parts: Part[] = [];
  for (const part of files) {
    onProgress(parts.length, files.length);
    parts.push({ file: part, plan: await previewPart(part, false, signal) });
  }
  const summary = summaryOf(parts, billing, false);
  return { ...summary, allRows: summary.rows, departed: departedOf(parts), guess };
}
