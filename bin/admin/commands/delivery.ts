import * as z from "zod/mini";
import * as byHand from "../../../shared/alerting/attempts/by-hand.ts";
import * as deliveryList from "../../../shared/alerting/attempts/delivery-list.ts";
import { deliveries, typeOf, waitsForOf } from "../../../shared/alerting/deliveries/delivery.ts";
import { deliveryStatus } from "../../../shared/alerting/deliveries/delivery-schema.ts";
import { channelIdOf, channelOf } from "../../../shared/alerting/owners/owner.ts";
import type { Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import {
  findOrganization,
  findServed,
  nextPage,
  notFound,
  oneOf,
  parse,
  parseId,
  parsePage,
} from "../flags.ts";
import { pick, printPage } from "../print.ts";
import { showProgress } from "../progress.ts";

/** The status as a flag takes it, without a space that would need quotes: "not-delivered". */
const flagOf = (status: string): string => status.replace(" ", "-");
const statusFlag = z.enum(deliveryStatus.options.map(flagOf));

export const deliveryCommands: Commands = {
  "delivery retry": {
    about:
      "Sends a delivery again at once, whatever became of it; with --channel all that were given " +
      "up of a channel, within about two minutes.",
    flags: { org: "required ID", delivery: "optional ID", channel: "optional ID|owners" },
    isAct: true,
    run: async (flags) => {
      if ((flags.delivery === undefined) === (flags.channel === undefined)) {
        throw new CommandError(
          "Give --delivery for one, or --channel for all of a channel that were given up.",
        );
      }
      const { id: org } = await findServed(flags);
      if (flags.channel === undefined) return retry(org, parseId("delivery", flags));
      const channelId = parseChannel(flags);
      await expectChannel(org, channelId);
      const retried = await byHand.retryAll(org, channelId, (soFar) => showProgress(`${soFar} made due`));
      return { channelId, retried };
    },
  },
  "delivery list": {
    about:
      "Lists the deliveries of a channel, or those to owners of addresses, newest first, 100 " +
      "unless --limit says otherwise (1000 at most).",
    flags: {
      org: "required ID",
      channel: "required ID|owners",
      status: `optional ${oneOf(statusFlag)}`,
      limit: "optional N",
      offset: "optional N",
    },
    run: async (flags) => {
      const page = parsePage(flags);
      const status = flags.status === undefined ? undefined : parse("status", statusFlag, flags.status);
      const { id: org } = await findOrganization(flags);
      const channel = parseChannel(flags);
      await expectChannel(org, channel);
      const { rows, total } = await deliveryList.page(org, channel, {
        ...page,
        status: deliveryStatus.options.find((each) => flagOf(each) === status),
      });
      return { deliveries: rows.map(shown), ...nextPage(page, total > page.offset + page.limit) };
    },
    print: printPage,
  },
};

const parseChannel = (flags: Flags): number =>
  channelIdOf(flags.channel === "owners" ? "owners" : parseId("channel", flags));

const expectChannel = async (org: number, id: number): Promise<void> => {
  if ((await channelOf(org, id)) === undefined) throw notFound("channel", id);
};

const retry = async (org: number, id: number) => {
  const delivery = await deliveries.get(org, id);
  if (delivery === undefined) throw notFound("delivery", id);
  if (delivery.event.type === "owner" && delivery.status === "delivered")
    throw new CommandError(
      'The message was delivered: "Tell the owner" on the dashboard tells it again a day later.',
    );
  await byHand.redeliver(org, deliveries.groupOf(delivery).channelId, id);
  return { id, attempt: delivery.attempts + 1 };
};

const shown = (delivery: deliveryList.Shown) => ({
  id: delivery.id,
  type: typeOf(delivery.event),
  ...pick(delivery, "status", "failedAttempts", "attempts", "lastAttemptAt", "failureReason"),
  waitsFor: waitsForOf(delivery, new Date()),
  ...(delivery.event.type === "owner" && { emailId: delivery.event.email.id }),
});
