import { call } from "../../api/client.ts";
import type { Delivery } from "../../api/routes.ts";
import { Button, DetailsButton } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Filter } from "../../components/filter.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { say } from "../../components/status.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { useRepeat } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { place } from "../../router.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { number } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { destinationOf, nameOf } from "./channel.ts";
import { DeliveryDetails } from "./delivery-details.tsx";
import { ReplayDialog } from "./replay.tsx";

const states: Record<Delivery["status"], { label: string; look: string }> = {
  delivered: { label: "Delivered", look: "good" },
  pending: { label: "Pending", look: "" },
  retrying: { label: "Retrying", look: "open" },
  "not delivered": { label: "Not delivered", look: "bad" },
};
const stateChoices = Object.entries(states).map(([value, { label }]) => ({ value, label }));

/** In the URL, in place of a channel: the messages to owners of addresses. */
export const owners = "owners";

/** What one channel, or all owners of addresses were sent, and what became of it. */
export function Deliveries({ id }: { id: string }) {
  const isToOwners = id === owners;
  const { status } = place.value.query;
  const data = usePage({ status }, (query, signal) =>
    call("GET /dashboard/alert-configs/{id}/deliveries", { path: { id }, query }, { signal }),
  );
  const { channel } = data.value ?? {};
  const isMoving = data.value?.deliveries.some(({ status }) => status === "pending" || status === "retrying");
  useRepeat(isMoving ?? false, 4, data);
  const { dialog, show } = useDialog(data.reload);
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
      say("The same event is being sent again.");
      data.reload();
    });
  return (
    <Page
      title="Alerts"
      actions={
        channel && (
          <>
            <Button onClick={() => show((ends) => <ReplayDialog {...ends} channelId={id} />)}>
              Replay what failed
            </Button>
            <Button isBusy={action.isBusy} onClick={() => void sendTest()}>
              Send test
            </Button>
          </>
        )
      }
    >
      <p>
        <a href={addressOf("/alerts")}>All channels</a>
      </p>
      <h2>
        {isToOwners ? "Messages to owners of addresses" : "Deliveries"}
        {channel && `: ${isolated(nameOf(channel))}, ${isolated(destinationOf(channel))}`}
      </h2>
      <div class="filters">
        <Filter label="State" name="status" choices={stateChoices} />
      </div>
      <FailureNotice failure={action.failure} />
      <Listing
        what="deliveries"
        data={data}
        rowsOf={({ deliveries }) => deliveries}
        columns={[
          ...columns((delivery) =>
            show((ends) => <DeliveryDetails {...ends} channelId={id} delivery={delivery} />),
          ),
          isToOwners ? ownerColumn : actionColumn(deliverAgain, action.isBusy),
        ]}
        empty={
          <Empty title={status === undefined ? "Nothing was sent yet." : "No delivery is in this state."}>
            {isToOwners
              ? "Owners are told when somebody presses Tell the owner, or by an e-mail channel " +
                "that also writes to each breached address."
              : "Scans send alerts when they find something. Send a test to see one now."}
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}

const columns = (onOpen: (delivery: Delivery) => void): Column<Delivery>[] => [
  {
    name: "Event",
    kind: "main",
    width: "rest",
    cell: (delivery) => (
      <DetailsButton about={`Details of the delivery ${delivery.id}`} onClick={() => onOpen(delivery)}>
        {delivery.title}
      </DetailsButton>
    ),
  },
  { name: "Created", width: "time", cell: ({ createdAt }) => <When time={createdAt} /> },
  {
    name: "State",
    width: "title",
    cell: ({ status, failureReason, waitsFor }) => {
      // Why an attempt before the one that arrived failed is told by the details.
      const reasons = status === "delivered" ? [] : [failureReason, waitsFor?.reason];
      const why = new Set(reasons.filter((reason) => reason != null));
      return (
        <>
          <span class={`state ${states[status].look}`}>{states[status].label}</span>
          {why.size > 0 && <small>{[...why].join("; ")}</small>}
        </>
      );
    },
  },
  { name: "Next attempt", width: "time", cell: ({ waitsFor }) => <When time={waitsFor?.until ?? null} /> },
  {
    name: "Attempts",
    kind: "number",
    width: "word",
    cell: ({ attempts, failedAttempts }) =>
      [
        (failedAttempts < attempts || attempts === 0) && number(attempts),
        failedAttempts > 0 && `${number(failedAttempts)} failed`,
      ]
        .filter((part) => part !== false)
        .join(", "),
  },
  {
    name: "Last attempt",
    width: "time",
    cell: ({ lastAttemptAt }) => <When time={lastAttemptAt} none="none yet" />,
  },
];

const actionColumn = (deliverAgain: (delivery: Delivery) => void, isBusy: boolean): Column<Delivery> =>
  actionsColumn(
    (delivery) => [{ name: "Deliver again", act: () => deliverAgain(delivery), isOff: isBusy }],
    ({ title, id }) => `${title}, ${id}`,
    "time",
  );

const ownerColumn: Column<Delivery> = {
  name: "Owner of",
  width: "address",
  cell: ({ owner }) =>
    owner === null ? (
      <span class="muted">a removed address</span>
    ) : (
      <a href={addressOf(`/emails/${owner.emailId}`)}>
        <bdi>{inBothForms(owner.email)}</bdi>
      </a>
    ),
};
