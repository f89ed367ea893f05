import { call } from "../../api/client.ts";
import type { Coverage, Scan } from "../../api/routes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Pending } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { inBothForms } from "../../text/domain-name.ts";
import { addresses } from "../../text/words.ts";

/** What a scan checked, and what not and why. */
export function CoverageDialog({ scan: { id }, onClose }: { scan: Scan; onClose: () => void }) {
  const data = useData("", (signal) => call("GET /v1/scans/{id}/coverage", { path: { id } }, { signal }));
  return (
    <Dialog title="What the scan checked" onClose={onClose} isText button="Close">
      <Pending data={data} what="what the scan checked" />
      {data.value && <Facts {...data.value} />}
    </Dialog>
  );
}

function Facts({ checked, failed, skipped, stale, domains }: Coverage) {
  const notSearched = domains.filter(({ reason }) => reason !== null);
  return (
    <dl class="facts">
      <Fact name="Checked">{addresses(checked)}</Fact>
      {failed.map(({ reason, count }) => (
        <Fact key={reason} name="Failed">
          {addresses(count)}: {reason}
        </Fact>
      ))}
      {skipped.map(({ reason, count }) => (
        <Fact key={reason} name="Left out">
          {addresses(count)}: {reason}
        </Fact>
      ))}
      {stale.count > 0 && (
        <Fact name="Not reached">
          {addresses(stale.count)},{" "}
          {stale.oldest === null ? (
            "none of them checked before"
          ) : (
            <>
              last checked <When time={stale.oldest} /> or later
            </>
          )}
        </Fact>
      )}
      {notSearched.map(({ id, name, reason }) => (
        <Fact key={id} name={<bdi>{inBothForms(name)}</bdi>}>
          Not searched whole: {reason}
        </Fact>
      ))}
    </dl>
  );
}
