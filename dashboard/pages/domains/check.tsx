import { call } from "../../api/client.ts";
import type { Domain } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FailureNotice, Loading } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";

type Properties = { domain: Domain; onClose: () => void; onDone: () => void };

/** Looks the record up, and says what is there instead if it is not. */
export function CheckDialog({ domain, onClose, onDone }: Properties) {
  const check = useData("", async (signal) => {
    const result = await call("POST /dashboard/domains/{id}/check", { path: { id: domain.id } }, { signal });
    onDone();
    return result;
  });
  const { value, failure, isLoading, reload } = check;
  return (
    <Dialog title={`Check ${domain.name}`} onClose={onClose} isText>
      {isLoading && <Loading what={`the TXT record ${domain.record.name}`} />}
      {!isLoading && failure !== undefined && <FailureNotice failure={failure} />}
      {!isLoading && failure === undefined && value !== undefined && (
        <div role="status">
          {value.isVerified ? (
            <p>The record is there: {domain.name} is verified. Leave it there, it is looked up once a day.</p>
          ) : (
            <Missing domain={domain} found={value.found} />
          )}
        </div>
      )}
      <div class="buttons">
        <Button onClick={onClose}>Close</Button>
        {value?.isVerified !== true && (
          <Button kind="primary" isBusy={isLoading} onClick={reload}>
            Check again
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Missing({ domain: { record }, found }: { domain: Domain; found: readonly string[] }) {
  return (
    <>
      <p>The record is not there yet. DNS can take minutes to hours to show a change.</p>
      <p>Looked for a TXT record with the value</p>
      <p>
        <code>{record.value}</code>
      </p>
      <p>
        at <code>{record.name}</code>, and found {found.length === 0 ? "none." : "these instead:"}
      </p>
      <ul>
        {found.map((value) => (
          <li key={value}>
            <code>{value}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
