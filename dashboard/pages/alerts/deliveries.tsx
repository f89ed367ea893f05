import { call } from "../../api/client.ts";
import type { Delivery } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Filter } from "../../components/filter.tsx";
import { Listing } from "../../components/listing.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { pageSize } from "../../components/pager.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData, useRepeat } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { place } from "../../router.ts";
import { number } from "../../text/words.ts";
import { destinationOf, kinds, known } from "./channel.ts";

const types: Record<Delivery["type"], string> = {
  breach: "New breaches",
  scan_complete: "Scan complete",
  scan_error: "Notice or test",
};
const states: Record<Delivery["status"], { label: string; look: string }> = {
  delivered: { label: "Delivered", look: "good" },
  pending: { label: "Pending", look: "" },
  retrying: { label: "Retrying", look: "open" },
  "not delivered": { label: "Not delivered", look: "bad" },
};
const stateChoices = Object.entries(states).map(([value, { label }]) => ({ value, label }));

/** What one channel has sent, and what became of it. */
export function Deliveries({ id }: { id: string }) {
  const channel = known.get(id);
  const { status, offset } = place.value.query;
  const query = { status, offset, limit: pageSize };
  const data = useData(JSON.stringify(query), (signal) =>
    call("GET /dashboard/alert-configs/{id}/deliveries", { path: { id }, query }, { signal }),
  );
  const isMoving = data.value?.deliveries.some(({ status }) => status === "pending" || status === "retrying");
  useRepeat(isMoving ?? false, 4, data.reload);
  const action = useAction();
  const sendTest = () =>
    action.run(async () => {
      await call("POST /dashboard/alert-configs/{id}/test", { path: { id } });
      say("A test is on its way.");
      data.reload();
    });
  const deliverAgain = (delivery: Delivery) =>
    action.run(async () => {
      const path = { id, deliveryId: delivery.id };
      await call("POST /dashboard/alert-configs/{id}/deliveries/{deliveryId}/redeliver", { path });
      say("The same event is on its way again.");
      data.reload();
    });
  return (
    <Page
      title="Alerts"
      actions={
        <Button isBusy={action.isBusy} onClick={() => void sendTest()}>
          Send test
        </Button>
      }
    >
      <p>
        <a href={addressOf("/alerts")}>All channels</a>
      </p>
      <h2>Deliveries{channel && ` by ${kinds[channel.channel]} to ${destinationOf(channel)}`}</h2>
      <div class="filters">
        <Filter label="State" name="status" choices={stateChoices} />
      </div>
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      <Listing
        what="deliveries"
        data={data}
        rowsOf={({ deliveries }) => deliveries}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns(deliverAgain, action.isBusy)}
        empty={
          <Empty
            title={
              status === undefined ? "Nothing was sent by this channel yet." : "No delivery is in this state."
            }
          >
            <p>Scans send alerts when they find something. Send a test to see one now.</p>
          </Empty>
        }
      />
    </Page>
  );
}

const columns = (deliverAgain: (delivery: Delivery) => void, isBusy: boolean): Column<Delivery>[] => [
  {
    name: "Event",
    kind: "main",
    cell: ({ id, type }) => (
      <>
        {types[type]} <small>{id}</small>
      </>
    ),
  },
  { name: "Created", cell: ({ createdAt }) => <When time={createdAt} /> },
  {
    name: "State",
    cell: ({ status, failureReason }) => (
      <>
        <span class={`state ${states[status].look}`}>{states[status].label}</span>
        {failureReason !== null && <small>{failureReason}</small>}
      </>
    ),
  },
  {
    name: "Attempts",
    kind: "number",
    cell: ({ attempts, failedAttempts }) => (
      <>
        {number(attempts)}
        {failedAttempts > 0 && <small>{number(failedAttempts)} failed</small>}
      </>
    ),
  },
  {
    name: "Last attempt",
    cell: ({ lastAttemptAt, nextAttemptAt }) => (
      <>
        <When time={lastAttemptAt} none="none yet" />
        {nextAttemptAt !== null && (
          <small>
            next <When time={nextAttemptAt} />
          </small>
        )}
      </>
    ),
  },
  {
    name: "Actions",
    kind: "actions",
    cell: (delivery) => (
      <Button
        kind="quiet"
        aria-description={`${types[delivery.type]} ${delivery.id}`}
        disabled={isBusy}
        onClick={() => deliverAgain(delivery)}
      >
        Deliver again
      </Button>
    ),
  },
];
