import { useEffect, useRef, useState } from "preact/hooks";
import { call, serviceTime, sleep } from "../../api/client.ts";
import { Failure } from "../../api/failure.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextArea } from "../../components/field.tsx";
import { Progress } from "../../components/progress.tsx";
import { say } from "../../components/status.tsx";
import { count } from "../../text/words.ts";
import { bodyOf, type Filters } from "./filters.ts";

export type Selection =
  | { kind: "ids"; ids: readonly number[] }
  /** All that match, also those on other pages. */
  | { kind: "matching"; filters: Filters; total: number };

const resolutions = [
  { value: "handled", label: "Handled: something was done about it" },
  { value: "ignored", label: "Ignored: nothing has to be done" },
];

type Properties = { selection: Selection; onClose: () => void; onDone: () => void };

export function AcknowledgeDialog({ selection, onClose, onDone }: Properties) {
  const [job, setJob] = useState<{ acknowledged: number; matching: number }>();
  const abort = useRef(new AbortController());
  const [openedAt] = useState(() => serviceTime().toISOString());
  useEffect(() => () => abort.current.abort(), []);
  const total = selection.kind === "ids" ? selection.ids.length : selection.total;
  const [first] = selection.kind === "ids" ? selection.ids : [];

  const acknowledge = async (fields: FormData): Promise<void> => {
    const reason = String(fields.get("reason")).trim();
    const resolution = fields.get("resolution") === "ignored" ? "ignored" : "handled";
    const how = { resolution, ...(reason !== "" && { reason }) } as const;
    if (selection.kind === "ids" && total === 1 && first !== undefined) {
      await call("POST /v1/breaches/acknowledge", { body: { id: first, ...how } });
    } else {
      const which =
        selection.kind === "ids"
          ? { ids: [...selection.ids] }
          : { filter: { ...bodyOf(selection.filters), detectedBefore: openedAt } };
      const { id, matching } = await call("POST /v1/breaches/acknowledgements", {
        body: { ...which, ...how },
      });
      setJob({ acknowledged: 0, matching });
      await follow(id);
    }
    say(`Acknowledged ${count(total, "finding")}.`);
    onDone();
  };

  /** The work goes on without this page, too. */
  const follow = async (id: number): Promise<void> => {
    for (;;) {
      const now = await call(
        "GET /v1/breaches/acknowledgements/{id}",
        { path: { id } },
        { signal: abort.current.signal },
      );
      setJob(now);
      if (now.status === "completed") return;
      if (now.status === "failed") {
        onDone();
        throw new Failure(`Only ${count(now.acknowledged, "finding was", "findings were")} acknowledged.`, {
          status: 500,
        });
      }
      await sleep(700, abort.current.signal);
    }
  };

  return (
    <FormDialog
      title={`Acknowledge ${count(total, "finding")}`}
      submit="Acknowledge"
      canLeave={job !== undefined}
      onSubmit={acknowledge}
      onClose={onClose}
    >
      {selection.kind === "matching" && (
        <p>
          All that match the filters, on every page. Findings that are detected from now on are not touched.
        </p>
      )}
      <SelectField label="Resolution" name="resolution" choices={resolutions} chosen="handled" />
      <TextArea
        label="Reason"
        name="reason"
        maxLength={1000}
        hint="Optional. Others in your organization read it."
      />
      {job !== undefined && (
        <>
          <Progress label="Acknowledging" done={job.acknowledged} total={job.matching} />
          <p>
            <small>This goes on when you close the dialog or leave the page.</small>
          </p>
        </>
      )}
    </FormDialog>
  );
}
