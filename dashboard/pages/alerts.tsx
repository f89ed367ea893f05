import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Channel } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { type Ends, FormDialog } from "../components/dialog.tsx";
import { Listing } from "../components/listing.tsx";
import { Name } from "../components/name.tsx";
import { Empty, FailureNotice } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { say } from "../components/status.tsx";
import type { Column } from "../components/table.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { place, setQuery } from "../router.ts";
import { exactTime } from "../text/dates.ts";
import { destinationOf, flags, kinds, nameOf } from "./alerts/channel.ts";
import { ChannelDialog } from "./alerts/channel-dialog.tsx";
import { Deliveries, owners } from "./alerts/deliveries.tsx";
import { Verification } from "./alerts/verification.tsx";

type Open = { kind: "add" } | { kind: "edit" | "delete"; channel: Channel };

const mostChannels = 20;

/** The channels, or the deliveries of one of them: the URL says which. */
export function AlertsPage() {
  const { channel } = place.value.query;
  return channel === undefined ? <Channels /> : <Deliveries key={channel} id={channel} />;
}

function Channels() {
  const data = useData("", async (signal) => {
    const { configs } = await call("GET /v1/alert-configs", { query: { include: "details" } }, { signal });
    return configs as Channel[];
  });
  const [open, setOpen] = useState<Open>();
  const action = useAction();
  const close = (): void => setOpen(undefined);
  const channels = data.value ?? [];

  const test = (channel: Channel) =>
    action.run(async () => {
      await call("POST /dashboard/alert-configs/{id}/test", { path: { id: channel.id } });
      say("A test is on its way. See under Deliveries what becomes of it.");
    });
  const enable = (channel: Channel) =>
    action.run(async () => {
      const body = { isEnabled: !channel.isEnabled };
      await call("PATCH /v1/alert-configs/{id}", { path: { id: channel.id }, body });
      say(`The channel is ${body.isEnabled ? "enabled" : "disabled"}.`);
      data.reload();
    });

  return (
    <Page
      title="Alerts"
      actions={
        <Button
          kind="primary"
          disabled={channels.length >= mostChannels}
          onClick={() => setOpen({ kind: "add" })}
        >
          Add channel
        </Button>
      }
    >
      {channels.length >= mostChannels && <p>There are {mostChannels} channels, and no more can be added.</p>}
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      <Listing
        what="alert channels"
        data={data}
        rowsOf={(channels) => channels}
        keyOf={({ id }) => id}
        columns={columns({ setOpen, test, enable, isBusy: action.isBusy })}
        empty={
          <Empty title="Nobody is alerted yet.">
            <p>Add a channel: e-mail, Slack, or a webhook of your own systems.</p>
          </Empty>
        }
      />
      <p>
        <a href={addressOf("/alerts", { channel: owners })}>Messages to owners of addresses</a>
      </p>
      <Verification />
      {open?.kind === "add" && <ChannelDialog onClose={close} onDone={data.reload} />}
      {open?.kind === "edit" && <ChannelDialog channel={open.channel} onClose={close} onDone={data.reload} />}
      {open?.kind === "delete" && (
        <DeleteChannel channel={open.channel} onClose={close} onDone={data.reload} />
      )}
    </Page>
  );
}

type Options = {
  setOpen: (open: Open) => void;
  test: (channel: Channel) => void;
  enable: (channel: Channel) => void;
  isBusy: boolean;
};

const columns = ({ setOpen, test, enable, isBusy }: Options): Column<Channel>[] => [
  {
    name: "Name",
    kind: "main",
    width: "name",
    cell: (channel) => <Name text={nameOf(channel)} />,
  },
  {
    name: "Destination",
    cell: (channel) => <span title={kinds[channel.channel]}>{destinationOf(channel)}</span>,
  },
  {
    name: "Alerts of",
    cell: (channel) => {
      const told = flags.filter(({ name }) => channel[name]);
      if (told.length === 0) return <span class="muted">nothing</span>;
      if (told.length === flags.length) return "everything";
      return told.map(({ label }) => label).join(", ");
    },
  },
  {
    name: "State",
    width: "word",
    cell: ({ isEnabled, failing, failingSince }) => {
      if (!isEnabled) return <span class="state off">Disabled</span>;
      if (!failing || failingSince === null) return <span class="state">Enabled</span>;
      return (
        <span class="state bad" title={`since ${exactTime(Date.parse(failingSince))}`}>
          Failing
        </span>
      );
    },
  },
  {
    name: "Delivered",
    width: "time",
    cell: ({ lastDeliveredAt }) => <When time={lastDeliveredAt} none="none lately" />,
  },
  {
    name: "Actions",
    kind: "actions",
    width: "wide",
    cell: (channel) => {
      const about = { "aria-description": `${nameOf(channel)}, ${destinationOf(channel)}` };
      return (
        <>
          <Button
            kind="quiet"
            {...about}
            disabled={isBusy || !channel.isEnabled}
            onClick={() => test(channel)}
          >
            Send test
          </Button>
          <Button kind="quiet" {...about} onClick={() => setQuery({ channel: channel.id })}>
            Deliveries
          </Button>
          <Button kind="quiet" {...about} onClick={() => setOpen({ kind: "edit", channel })}>
            Edit
          </Button>
          <Button kind="quiet" {...about} disabled={isBusy} onClick={() => enable(channel)}>
            {channel.isEnabled ? "Disable" : "Enable"}
          </Button>
          <Button kind="quiet" {...about} onClick={() => setOpen({ kind: "delete", channel })}>
            Delete
          </Button>
        </>
      );
    },
  },
];

function DeleteChannel({ channel, onClose, onDone }: Ends & { channel: Channel }) {
  const remove = async (): Promise<void> => {
    await call("DELETE /v1/alert-configs/{id}", { path: { id: channel.id } });
    say("The channel was deleted.");
    onDone();
  };
  return (
    <FormDialog
      title={`Delete the ${nameOf(channel)} channel?`}
      submit="Delete"
      isDanger
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        Nothing is sent to {destinationOf(channel)} any more, and the list of its deliveries is deleted. This
        cannot be undone. Disable it instead to pause it.
      </p>
    </FormDialog>
  );
}
