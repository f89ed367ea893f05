import { useEffect, useRef, useState } from "preact/hooks";
import { allPages } from "../../api/all-pages.ts";
import { asFailure, call, serviceTime } from "../../api/client.ts";
import { type Ends, FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Progress } from "../../components/progress.tsx";
import { count } from "../../text/words.ts";

type Properties = Ends & { channelId: string };

const dayMilliseconds = 86_400_000;

/** As fields of dates and times have it, in the reader's time zone: "2026-11-26T14:02". */
const localTime = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The ids of deliveries that did not arrive, of events since a time, oldest first. */
async function failedSince(channelId: string, since: number, signal: AbortSignal): Promise<number[]> {
  const ids = new Set<number>();
  // In this order, deliveries that are given up meanwhile are seen as well.
  for (const status of ["retrying", "not delivered"]) {
    const pages = allPages("deliveries", (page) => {
      const input = { path: { id: channelId }, query: { status, ...page } };
      return call("GET /dashboard/alert-configs/{id}/deliveries", input, { signal });
    });
    for await (const { rows: deliveries } of pages) {
      const some = deliveries.filter(({ createdAt }) => Date.parse(createdAt) >= since);
      for (const { id } of some) ids.add(id);
      if (some.length < deliveries.length) break;
    }
  }
  return [...ids].sort((one, other) => one - other);
}

/** Delivers again what did not arrive since a time, one after the other. */
export function ReplayDialog({ channelId, onClose, onDone }: Properties) {
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const { signal } = abort.current;
  const replay = async (fields: FormData): Promise<string> => {
    const since = Date.parse(String(fields.get("since")));
    const ids = await failedSince(channelId, since, signal);
    let sent = 0;
    try {
      for (const deliveryId of ids) {
        setProgress({ done: sent, total: ids.length });
        const path = { id: channelId, deliveryId };
        const route = "POST /dashboard/alert-configs/{id}/deliveries/{deliveryId}/redeliver";
        await call(route, { path }, { signal }).catch((error: unknown) => {
          // An attempt is under way already.
          if (asFailure(error).code !== "delivery_in_progress") throw error;
        });
        sent += 1;
      }
    } finally {
      if (!signal.aborted) onDone();
    }
    return sent === 0
      ? "Nothing has failed since then."
      : `${count(sent, "event is", "events are")} on the way again.`;
  };
  return (
    <FormDialog title="Replay what failed" submit="Replay" canLeave onSubmit={replay} onClose={onClose}>
      <TextField
        label="Since"
        name="since"
        type="datetime-local"
        required
        defaultValue={localTime(serviceTime().getTime() - dayMilliseconds)}
        hint="Events since then that did not arrive are sent again, oldest first: at most 20 an hour, tests included."
      />
      {progress !== undefined && <Progress label="Replay" {...progress} />}
    </FormDialog>
  );
}
