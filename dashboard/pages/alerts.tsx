import { call } from "../api/client.ts";
import type { Channel } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { now } from "../components/clock.ts";
import { Confirm, type Ends, type Show, useDialog } from "../components/dialog.tsx";
import { Listing } from "../components/listing.tsx";
import { Name } from "../components/name.tsx";
import { Empty, FailureNotice } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { say } from "../components/status.tsx";
import { actionsColumn, type Column } from "../components/table.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { place, setQuery } from "../router.ts";
import { exactTime, timePassed } from "../text/dates.ts";
import { isolated } from "../translation.ts";
import { destinationOf, flags, kinds, nameOf } from "./alerts/channel.ts";
import { ChannelDialog } from "./alerts/channel-dialog.tsx";
import { Deliveries, owners } from "./alerts/deliveries.tsx";
import { Verification } from "./alerts/verification.tsx";

const mostChannels = 20;

/** The channels, or the deliveries of one of them: the URL says which. */
export function AlertsPage() {
  const { channel } = place.value.query;
  return channel === undefined ? <Channels /> : <Deliveries key={channel} id={channel} />;
}

function Channels() {
  const data = useData("", async (signal) => {
    const { configs } = await call("GET /v1/alert-configs", { query: { include: "details" } }, { signal });
    return { channels: configs as Channel[] };
  });
  const { dialog, show } = useDialog(data.reload);
  const action = useAction();
  const { channels = [] } = data.value ?? {};

  const test = (channel: Channel) =>
    action.run(async () => {
      await call("POST /dashboard/alert-configs/{id}/test", { path: { id: channel.id } });
      say("A test is on its way. Deliveries shows whether it arrives.");
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
          onClick={() => show((ends) => <ChannelDialog {...ends} />)}
        >
          Add channel
        </Button>
      }
    >
      {channels.length >= mostChannels && (
        <p>There can be at most {mostChannels} channels: delete one to add another.</p>
      )}
      <FailureNotice failure={action.failure} />
      <Listing
        what="alert channels"
        data={data}
        rowsOf={({ channels }) => channels}
        columns={columns({
          show,
          test,
          enable,
          isBusy: action.isBusy,
          isAnyFailing: channels.some(({ failing }) => failing),
        })}
        empty={
          <Empty title="Nobody is alerted yet.">
            Add a channel: e-mail, Slack, or a webhook of your own systems.
          </Empty>
        }
      />
      <p>
        <a href={addressOf("/alerts", { channel: owners })}>Messages to owners of addresses</a>
      </p>
      <Verification />
      {dialog}
    </Page>
  );
}

type Options = {
  show: Show;
  test: (channel: Channel) => void;
  enable: (channel: Channel) => void;
  isBusy: boolean;
  isAnyFailing: boolean;
};

const columns = ({ show, test, enable, isBusy, isAnyFailing }: Options): Column<Channel>[] => [
  {
    name: "Name",
    kind: "main",
    width: "name",
    cell: (channel) => (
      <span class="tailed">
        <Name text={nameOf(channel)} />
        {channel.options.name !== null && <small> {kinds[channel.channel]}</small>}
      </span>
    ),
  },
  { name: "Destination", isMinor: true, cell: destinationOf },
  {
    name: "Alerts of",
    isMinor: true,
    cell: (channel) => {
      const { minSeverity } = channel.options;
      const wanted = flags.filter(({ name }) => channel[name]);
      if (wanted.length === 0) return <span class="muted">nothing</span>;
      if (wanted.length === flags.length && minSeverity === "low") return "everything";
      const least = minSeverity === "low" ? "" : ` from ${minSeverity} on`;
      return wanted
        .map(({ label, name }) => (name === "notifyOnNewBreach" ? label + least : label))
        .join(", ");
    },
  },
  {
    name: "State",
    width: isAnyFailing ? "rest" : "word",
    cell: ({ isEnabled, failing, failingSince }) => {
      if (!isEnabled) return <span class="state off">Disabled</span>;
      if (!failing || failingSince === null) return <span class="state">Enabled</span>;
      return <Failing since={failingSince} />;
    },
  },
  {
    name: "Delivered",
    width: "time",
    isMinor: true,
    cell: ({ lastDeliveredAt }) => <When time={lastDeliveredAt} none="none yet" />,
  },
  actionsColumn(
    (channel) => [
      { name: "Send test", act: () => test(channel), isOff: isBusy || !channel.isEnabled },
      { name: "Deliveries", act: () => setQuery({ channel: channel.id }) },
      { name: "Edit", act: () => show((ends) => <ChannelDialog {...ends} channel={channel} />) },
      { name: channel.isEnabled ? "Disable" : "Enable", act: () => enable(channel), isOff: isBusy },
      { name: "Delete", act: () => show((ends) => <DeleteChannel {...ends} channel={channel} />) },
    ],
    (channel) => `${nameOf(channel)}, ${destinationOf(channel)}`,
    "wide",
  ),
];

function Failing({ since }: { since: string }) {
  const at = Date.parse(since);
  return (
    <>
      <span class="state bad">Failing</span>
      <small>
        {" for "}
        <time dateTime={since} title={`since ${exactTime(at)}`}>
          {timePassed(at, now())}
        </time>
      </small>
    </>
  );
}

function DeleteChannel({ channel, ...ends }: Ends & { channel: Channel }) {
  const remove = async (): Promise<string> => {
    await call("DELETE /v1/alert-configs/{id}", { path: { id: channel.id } });
    return "The channel was deleted.";
  };
  return (
    <Confirm
      {...ends}
      title={`Delete the ${isolated(nameOf(channel))} channel?`}
      submit="Delete"
      act={remove}
    >
      Nothing more is sent to {destinationOf(channel)}, and the list of its deliveries is deleted. This cannot
      be undone. To pause the channel, disable it instead.
    </Confirm>
  );
}
