import { handler as redispatch } from "../../../functions/redispatch-alerts/handler.ts";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import * as configure from "../../../shared/alerting/channels/configure.ts";
import { remove } from "../../../shared/alerting/channels/remove.ts";
import * as byHand from "../../../shared/alerting/deliveries/by-hand.ts";
import { type AlertEvent, deliveries, raise } from "../../../shared/alerting/deliveries/delivery.ts";
import { deleteHistory } from "../../../shared/alerting/deliveries/history.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { activeBilling } from "../../access/organizations/billing.ts";
import type { Chance } from "./chance.ts";
import { type Clock, common, hour, minute, second, startedAt } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { Invocations } from "./invocations.ts";
import { contextUntil } from "./queues.ts";
import { behaviours } from "./receivers.ts";
import type { Witnesses } from "./witnesses.ts";

type Parts = {
  clock: Clock;
  chance: Chance;
  faults: Faults;
  invocations: Invocations;
  witnesses: Witnesses;
};

type Channels = Record<string, channels.Channel>;

/** A channel gets one of this many events. */
const everyEvents: Record<string, number> = {
  healthy: 1,
  flaky: 2,
  slow: 4,
  down: 25,
  dead: 40,
  removed: 12,
  disabled: 25,
  abandoned: 60,
};

/**
 * Deployed, the runs are a minute apart; fewer runs find the same, a little later. A run comes at any time
 * within its interval.
 */
const redispatchInterval = 2 * minute;

/** When the last planned thing happens. */
export const lastPlannedAt = startedAt + 12.5 * hour;

/** Creates the organization with one webhook channel for each behaviour of a receiver. */
export const prepare = async (origin: string, witnesses: Witnesses): Promise<Channels> => {
  const organization = await organizations.create({
    name: "Faults",
    billing: activeBilling,
    scanEvery: "never",
  });
  witnesses.org = organization.id;
  const made: Channels = {};
  for (const name of Object.keys(behaviours)) {
    const id = await configure.create(
      organization.id,
      {
        channel: "webhook",
        config: { url: `${origin}/${name}` },
        isEnabled: true,
        notifyOnNewBreach: true,
        notifyOnScanComplete: true,
        notifyOnScanError: true,
      },
      administrator,
      async () => undefined,
    );
    witnesses.channelNames.set(id, name);
    made[name] = (await channels.get(organization.id, id)) as channels.Channel;
  }
  return made;
};

/** Plans what happens from outside: events, runs of the re-dispatch, changes of channels, retries by hand. */
export const plan = (all: Channels, events: number, parts: Parts): void => {
  planEvents(all, events, parts);
  planRedispatch(parts);
  planChannelChanges(all, parts);
  planRetriesByHand(all, parts);
};

/** Events over ten hours, ten at a time. A disabled or removed channel gets none any more. */
const planEvents = (all: Channels, events: number, { clock, invocations, witnesses }: Parts): void => {
  // Events for the channel `removed` continue a while: of scans that read the channels before it was removed.
  const lastEventAt: Record<string, number> = {
    removed: 30 * minute,
    disabled: 30 * minute,
    abandoned: 40 * minute,
  };
  for (let number = 0; number < events; number++) {
    const time = startedAt + (Math.floor(number / 10) * 10 * hour) / events;
    const wanting = Object.entries(everyEvents)
      .filter(([, every]) => number % every === 0)
      .filter(([name]) => time - startedAt <= (lastEventAt[name] ?? Number.POSITIVE_INFINITY))
      .map(([name]) => all[name] as channels.Channel);
    const event: AlertEvent = { type: "scan_error", error: `event ${number}` };
    clock.at(time, common, () =>
      invocations.start({ name: `raise ${number}`, lane: common }, () =>
        raiseEvent(witnesses.org, wanting, event),
      ),
    );
  }
};

const raiseEvent = async (org: number, wanting: channels.Channel[], event: AlertEvent): Promise<void> => {
  const { writes, messages } = await raise(org, wanting, [event]);
  await table.transact(deliveries.writes(org, writes));
  await queue.sendAll("deliveries", messages);
};

const planRedispatch = ({ clock, chance, faults, invocations }: Parts): void => {
  const redispatchAt = (count: number): void => {
    const name = `re-dispatch ${count}`;
    const time = startedAt + (count + chance.draw(`${name}/when`)) * redispatchInterval;
    clock.at(time, common, async () => {
      redispatchAt(count + 1);
      if (faults.strikes(`${name}/missed`)) return faults.note("schedule: run missed");
      await invocations.start({ name, lane: common, pauses: false }, () =>
        redispatch({}, contextUntil(clock, clock.now + 55 * second)),
      );
    });
  };
  redispatchAt(1);
};

const planChannelChanges = (all: Channels, { clock, invocations, witnesses }: Parts): void => {
  const channelIdOf = (name: string): number => all[name]?.id ?? 0;
  const setEnabled = (name: string, isEnabled: boolean) => async () => {
    await configure.change(witnesses.org, channelIdOf(name), { isEnabled }, administrator, async () => {});
  };
  clock.at(startedAt + 30 * minute, common, setEnabled("disabled", false));
  clock.at(startedAt + 5.5 * hour, common, setEnabled("disabled", true));
  clock.at(startedAt + 40 * minute, common, setEnabled("abandoned", false));
  // Repeated until the history is deleted, as client and sweep do.
  for (let count = 0; count < 20; count++) {
    const name = `removal ${count}`;
    clock.at(startedAt + 20 * minute + count * 5 * minute, common, () =>
      invocations.start({ name, lane: common }, () => removeChannel(witnesses.org, channelIdOf("removed"))),
    );
  }
};

const removeChannel = async (org: number, id: number): Promise<void> => {
  if ((await channels.get(org, id)) !== undefined) await remove(org, id, administrator);
  if ((await table.get(keys.channelRemoval(org, id))) !== undefined) {
    await deleteHistory(org, id, () => true);
  }
};

/** An operator retries some deliveries of the channel `dead`, before and after they are given up. */
const planRetriesByHand = (all: Channels, { clock, chance, invocations, witnesses }: Parts): void => {
  const channelId = all.dead?.id ?? 0;
  for (const hours of [2.5, 4.5, 11.5, 12.5]) {
    clock.at(startedAt + hours * hour, common, async () => {
      for (const { id, channel } of witnesses.all()) {
        const name = `by hand ${hours} ${witnesses.ordinalOf(id)}`;
        if (channel !== "dead" || chance.draw(name) >= 0.3) continue;
        clock.at(clock.now + chance.delay(name), String(id), () =>
          invocations.start({ name, lane: String(id) }, () =>
            byHand.redeliver(witnesses.org, channelId, id, ["retrying", "not delivered"]),
          ),
        );
      }
    });
  }
};
