import { call } from "../../api/client.ts";
import type { Delivery } from "../../api/routes.ts";
import { CopyButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Pending } from "../../components/notice.tsx";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { inBothForms } from "../../text/domain-name.ts";
import { number } from "../../text/words.ts";

type Properties = { channelId: string; delivery: Delivery; onClose: () => void };

export function DeliveryDetails({ channelId, delivery, onClose }: Properties) {
  const path = { id: channelId, deliveryId: delivery.id };
  const details = useData("", (signal) =>
    call("GET /dashboard/alert-configs/{id}/deliveries/{deliveryId}", { path }, { signal }),
  );
  const { value } = details;
  const { lastResponse, waitsFor, failureReason, unreached, payload } = value ?? {
    ...delivery,
    unreached: [],
    payload: null,
  };
  return (
    <Dialog title={delivery.title} onClose={onClose} isWide isText button="Close">
      <dl class="facts">
        <Fact name="Id">{delivery.id}</Fact>
        {failureReason !== null && <Fact name="Last failure">{failureReason}</Fact>}
        {unreached.length > 0 && <Fact name="Not reached">{unreached.map(inBothForms).join(", ")}</Fact>}
        {waitsFor !== null && (
          <Fact name="Waits for">
            {waitsFor.reason}: <When time={waitsFor.until} />
          </Fact>
        )}
        {lastResponse !== null && (
          <Fact name="Last response">
            HTTP {lastResponse.status} after {number(lastResponse.durationMs)} ms
            {lastResponse.body !== "" && (
              <>
                : <code>{lastResponse.body}</code>
              </>
            )}
          </Fact>
        )}
      </dl>
      <Pending data={details} what="what was sent" />
      {payload !== null && (
        <section class="code">
          <h3>Sent</h3> <CopyButton text={payload} about="What was sent" />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <pre class="scroll" tabIndex={0}>
            <code>{payload}</code>
          </pre>
        </section>
      )}
      {value?.payload === null && (
        <p>
          {value.lastAttemptAt === null
            ? "Nothing was sent yet."
            : "What was sent can no longer be shown: the addresses or findings it was about are " +
              "removed, disabled or left out now."}
        </p>
      )}
    </Dialog>
  );
}
