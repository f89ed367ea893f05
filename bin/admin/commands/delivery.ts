import * as z from "zod/mini";
import type { Organization } from "../../../shared/access/organizations/organization.ts";
import * as byHand from "../../../shared/alerting/deliveries/by-hand.ts";
import { deliveries, typeOf, waitsForOf } from "../../../shared/alerting/deliveries/delivery.ts";
import * as deliveryList from "../../../shared/alerting/deliveries/delivery-list.ts";
import { deliveryStatus } from "../../../shared/alerting/deliveries/delivery-schema.ts";
import { channelIdOf, channelOf } from "../../../shared/alerting/owners/owner.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import type { Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, nextPage, notFound, oneOf, parse, parseId, parsePage } from "../flags.ts";
import { pick, printPage } from "../print.ts";
import { showProgress } from "../progress.ts";
import { findReceivingChannel } from "./channel.ts";

/** The status as a flag takes it, without a space that would need quotes: "not-delivered". */
const flagOf = (status: string): string => status.replace(" ", "-");
const statusFlag = z.enum(deliveryStatus.options.map(flagOf));

export const deliveryCommands: Commands = {
  "delivery retry": {
    about:
      "Sends a delivery again at once; with --channel all that were given up of a channel, within about two minutes.",
    flags: { org: "required ID", delivery: "optional ID", channel: "optional ID|owners" },
    isAct: true,
    run: async (flags) => {
      if ((flags.delivery === undefined) === (flags.channel === undefined)) {
        throw new CommandError(
          "Give --delivery for one, or --channel for all of a channel that were given up.",
        );
      }
      const organization = await findOrganization(flags);
      return flags.channel === undefined
        ? retry(organization, parseId("delivery", flags))
        : retryAllOf(organization, parseChannel(flags));
    },
  },
  "delivery list": {
    about:
      "Lists the deliveries of a channel, or those to owners of addresses, newest first, 100 unless --limit says otherwise (1000 at most).",
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
      if ((await channelOf(org, channel)) === undefined) throw notFound("channel", channel);
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

const retry = async (organization: Organization, id: number) => {
  const delivery = await deliveries.get(organization.id, id);
  if (delivery === undefined) throw notFound("delivery", id);
  const { channelId } = deliveries.groupOf(delivery);
  await findReceivingChannel(organization, channelId);
  if (delivery.status === "delivered")
    throw new CommandError(
      delivery.event.type === "owner"
        ? 'The message was delivered: "Tell the owner" on the dashboard tells it again a day later.'
        : 'The delivery was delivered: "Deliver again" on the dashboard sends it once more.',
    );
  if (delivery.status === "pending") {
    const waitsFor = waitsForOf(delivery, new Date());
    throw new CommandError(
      waitsFor === null
        ? "The delivery is pending: its first attempt is about to be made."
        : `The delivery waits until ${waitsFor.until}: ${waitsFor.reason}.`,
    );
  }
  try {
    await byHand.redeliver(organization.id, channelId, id, ["retrying", "not delivered"]);
  } catch (error) {
    if (!(error instanceof Refusal) || error.refusal !== "deliveryInProgress") throw error;
    throw new CommandError("An attempt of the delivery is in progress: try again in a minute.");
  }
  return { id, attempt: delivery.attempts + 1 };
};

const retryAllOf = async (organization: Organization, channelId: number) => {
  await findReceivingChannel(organization, channelId);
  const retried = await byHand.retryAll(organization.id, channelId, (soFar) =>
    showProgress(`${soFar} made due`),
  );
  return { channelId, retried };
};

const shown = (delivery: deliveryList.Shown) => ({
  id: delivery.id,
  type: typeOf(delivery.event),
  ...pick(delivery, "status", "failedAttempts", "attempts", "lastAttemptAt", "failureReason"),
  waitsFor: waitsForOf(delivery, new Date()),
  ...(delivery.event.type === "owner" && { emailId: delivery.event.email.id }),
});
