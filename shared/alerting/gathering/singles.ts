/**
 * A gathered delivery becomes single messages when its scan found few people, or when its channel has become a webhook. One transaction
 * writes the single deliveries and takes their findings out of the gathered one, so that each finding stays in exactly one message.
 */
import { findings } from "../../findings/record.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import type { Channel } from "../channels/channel.ts";
import {
  type AlertEvent,
  breachesPerEvent,
  type Delivery,
  type Gathered,
  type Raised,
  raiseFor,
} from "../deliveries/delivery.ts";
import { replace } from "../deliveries/transitions.ts";
import { findingsOf, singleFor } from "./early.ts";
import { type FoundRow, foundIn } from "./found.ts";

/** For a webhook, in one transaction. */
const eventsAtOnce = 50;

/**
 * Tells one by one what a gathered delivery would tell, or for a webhook a part of it. `isOver`: nothing is left in the delivery.
 * Undefined: it is to be sent as it is. The caller sends the messages.
 */
export const singleOut = async (
  org: number,
  row: Delivery,
  event: Gathered,
  channel: Channel,
): Promise<{ messages: Raised["messages"]; isOver: boolean } | undefined> => {
  const isWebhook = channel.channel === "webhook";
  // A delivery that was attempted stays as it is: some receivers may have its message.
  const room = isWebhook ? eventsAtOnce : row.lastAttemptAt === null ? (event.room ?? 0) : 0;
  if (room === 0) return undefined;
  const { singles, isRest, isAll, toldTo } = await firstSingles(org, row, event, channel, room);
  if (!isWebhook && (!isAll || singles.length === 0 || (isRest && singles.length === room))) return undefined;
  const { room: _, told, ...others } = event;
  const isOver = isAll && !isRest;
  const left = isWebhook
    ? { ...event, toldTo }
    : { ...others, told: [...told, ...singles.flatMap(findingsOf)] };
  const { writes, messages } = await raiseFor(
    org,
    singles.map((single) => ({ event: single, channel })),
  );
  const isReplaced = await replace(org, row, writes, isOver ? undefined : left);
  return isReplaced ? { messages, isOver } : { messages: [], isOver: true };
};

type Singles = {
  singles: AlertEvent[];
  /** There are findings for a message that names nobody. */
  isRest: boolean;
  isAll: boolean;
  /** The last finding that was looked at. */
  toldTo: number;
};

/** The first events of what a gathered delivery tells, at most `room`. */
const firstSingles = async (
  org: number,
  { scans = new Set() }: Delivery,
  event: Gathered,
  channel: Channel,
  room: number,
): Promise<Singles> => {
  const alreadyTold = new Set(event.told);
  const { toldTo = 0 } = event;
  const { isWhole, rows } = await foundIn(org, scans, toldTo + 1);
  const all: Singles = { singles: [], isRest: false, isAll: isWhole, toldTo };
  for await (const some of rows()) {
    const untold = some.filter(({ id }) => id > toldTo && !alreadyTold.has(id));
    const details = await breachDetails.details(untold.map(({ breachId }) => breachId));
    for (const run of runsOf(untold)) {
      const breaches = run.map((row) => ({
        breachId: row.breachId,
        findingId: row.id,
        level: findings.groupOf(row).severity,
        isSensitive: details.get(row.breachId)?.isSensitive ?? false,
      }));
      const [{ emailId }] = run;
      const found = { emailId, breaches };
      const { single, isRest } = singleFor(channel, scanOf(run[0]), found, { isGathering: true });
      if (single !== undefined && all.singles.length === room) return { ...all, isAll: false };
      if (single !== undefined) all.singles.push(single);
      all.isRest ||= isRest;
      all.toldTo = run.at(-1)?.id ?? all.toldTo;
    }
    all.toldTo = some.at(-1)?.id ?? all.toldTo;
  }
  return all;
};

type Run = [FoundRow, ...FoundRow[]];

/** Findings of one e-mail and scan have ids one after the other. */
const runsOf = (rows: readonly FoundRow[]): Run[] => {
  const runs: Run[] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    const isOfRun = run?.[0].emailId === row.emailId && scanOf(run[0]) === scanOf(row);
    if (isOfRun && run.length < breachesPerEvent) run.push(row);
    else runs.push([row]);
  }
  return runs;
};

const scanOf = (row: FoundRow): number => findings.groupOf(row).scanId ?? 0;
