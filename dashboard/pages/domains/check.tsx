import { call } from "../../api/client.ts";
import type { Domain } from "../../api/routes.ts";
import { Button, CopyButton } from "../../components/button.tsx";
import { Dialog, type Ends } from "../../components/dialog.tsx";
import { FailureNotice, Loading } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { withoutInvisible } from "../../text/invisible.ts";
import { isolated } from "../../translation.ts";

type Properties = Ends & { domain: Domain };

export function CheckDialog({ domain, onClose, onDone }: Properties) {
  const check = useData("", async (signal) => {
    const result = await call("POST /dashboard/domains/{id}/check", { path: { id: domain.id } }, { signal });
    onDone();
    return result;
  });
  const { value, failure, isLoading, reload } = check;
  return (
    <Dialog title={`Check ${isolated(inBothForms(domain.name))}`} onClose={onClose} isText>
      {isLoading && <Loading what={`the TXT record ${isolated(domain.record.name)}`} />}
      <FailureNotice failure={isLoading ? undefined : failure} />
      {!isLoading && failure === undefined && value !== undefined && (
        <div role="status">
          {value.isVerified ? (
            <p>
              The record is there: <bdi>{domain.name}</bdi> is verified. Leave the record in place: it is
              checked once a day.
            </p>
          ) : (
            <Missing domain={domain} {...value} />
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

/** The part of a record's name in front of a zone. */
export const hostIn = (name: string, zone: string): string => name.slice(0, -zone.length - 1);

type MissingProperties = { domain: Domain; found: readonly string[]; foundAt?: string | undefined };

function Missing({ domain: { record }, found, foundAt }: MissingProperties) {
  return (
    <>
      {foundAt === undefined ? (
        <p>The record is not there yet. DNS can take minutes to hours to show a change.</p>
      ) : (
        <Misplaced name={record.name} foundAt={foundAt} />
      )}
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
            <code>{withoutInvisible(value)}</code>
          </li>
        ))}
      </ul>
      {found.some((value) => value.toLowerCase().includes(record.value)) && (
        <p>The value is there with something directly before or behind it. Take that off.</p>
      )}
    </>
  );
}

/**
 * The value is right, and stands under another name: most DNS providers' forms add the zone to the typed
 * name.
 */
function Misplaced({ name, foundAt }: { name: string; foundAt: string }) {
  const zone = foundAt.startsWith(`${name}.`) ? foundAt.slice(name.length + 1) : undefined;
  const host = zone === undefined ? name : hostIn(name, zone);
  return (
    <div class="notice">
      <p>
        The record is at the wrong name, <code>{foundAt}</code>.{" "}
        {zone !== undefined && `Your DNS provider's form adds ${zone} by itself.  `}
        Change its name there to
      </p>
      <p>
        <code>{host}</code> <CopyButton text={host} about="The record's name" />
      </p>
    </div>
  );
}
