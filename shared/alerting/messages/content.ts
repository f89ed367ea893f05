/** What an attempt tells, read when it is made. */
import { levelOf } from "../../hibp/severity.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import { type AnyChannel, optionsOf } from "../channels/channel.ts";
import type { AlertEvent, Delivery, Found, PersonEvent } from "../deliveries/delivery.ts";
import { kindOf } from "../kinds/kinds.ts";
import { type EventReport, readEvent } from "./event-report.ts";
import { type ExampleReport, exampleFor } from "./example.ts";
import { type OwnerReport, type PersonReport, readOwner, readPerson } from "./person.ts";
import { noBreaches, readGathered, readRisen, type Summary } from "./summary.ts";
import type { UnwatchedReport } from "./unwatched.ts";

export type ScanReport = {
  kind: "scan";
  event: Extract<AlertEvent, { type: "scan_complete" | "scan_error" }>;
};

export type Content =
  | ScanReport
  | EventReport
  | ExampleReport
  | PersonReport
  | OwnerReport
  | Summary
  | UnwatchedReport;

/**
 * `leastOfOwner`: the severity, as a level, from which an owner is told. Undefined: nothing is left to tell,
 * or the channel's kind has no such message.
 */
export const readContent = async (
  org: number,
  delivery: Delivery,
  channel: AnyChannel,
  leastOfOwner?: number,
): Promise<Content | undefined> => {
  const { event } = delivery;
  const isDiscreet = optionsOf(channel).sensitive === "discreet";
  const { isForPeople } = kindOf(channel);
  switch (event.type) {
    case "owner":
      return readOwner(org, delivery, event, leastOfOwner);
    case "gathered":
      if (isForPeople) return readGathered(org, delivery, channel);
      return event.found && readEvent(org, event.found, event, channel);
    case "risen":
      return isForPeople ? readRisen(event, isDiscreet) : undefined;
    case "breach":
      if (!isForPeople) return readEvent(org, foundOf(event), { emailId: event.email.id }, channel);
      return forChannel(await readPerson(org, event), isDiscreet);
    case "scan_error":
      return event.isExample ? exampleFor(channel) : { kind: "scan", event };
    default:
      return { kind: "scan", event };
  }
};

/** Whether it tells a channel of a breach of high severity or above. One that it does not name counts as such. */
export const isUrgent = (content: Content): boolean => {
  const isHigh = ({ severity }: { severity: Severity }): boolean => levelOf(severity) >= levelOf("high");
  switch (content.kind) {
    case "owner":
    case "scan":
    case "event":
    case "example":
      return false;
    case "unwatched":
      return isHigh(content);
    case "person":
      return content.breaches.some(isHigh);
    default:
      return content.discreetPeople > 0 || content.breaches.some(isHigh);
  }
};

const foundOf = ({ breachIds, email }: PersonEvent): Found => ({
  breachIds,
  people: 1,
  findingIds: email.findingIds,
});

/** A report without what a discreet channel may not name. */
const forChannel = (person: PersonReport, isDiscreet: boolean): PersonReport | Summary => {
  if (!isDiscreet || !person.breaches.some(({ isSensitive }) => isSensitive)) return person;
  // A channel for scans gets this only when the breach became sensitive, or the channel discreet, after the
  // delivery's creation.
  return {
    kind: "findings",
    ...noBreaches,
    discreetPeople: 1,
    scanId: undefined,
  };
};
