import type { AlertEvent } from "../deliveries/delivery.ts";
import { asLine } from "./notice.ts";

const maximumTitle = 200;

type Titles = ReadonlyMap<number, { title: string; isSensitive: boolean }>;

/**
 * What an event is about in one line, without anybody's name or address. `titles`: of breaches, by id. `isDiscreet`: the channel names
 * no sensitive breach.
 */
export const titleOf = (event: AlertEvent, titles: Titles, isDiscreet: boolean): string => {
  const nameOf = (breachId: number): string => {
    const { title = "", isSensitive = false } = titles.get(breachId) ?? {};
    return isDiscreet && isSensitive ? "A sensitive breach" : asLine(title, maximumTitle, "A breach");
  };
  switch (event.type) {
    case "owner":
    case "breach": {
      const [worst = 0, ...others] = event.breachIds;
      return `${nameOf(worst)}${others.length === 0 ? "" : ` and ${others.length} more`}: 1 person`;
    }
    case "gathered":
      return event.baseline === undefined ? "New findings in one message" : "Summary of the first scan";
    case "risen":
      return `${nameOf(event.breachId)}, now worse: ${event.people} ${event.people === 1 ? "person" : "people"}`;
    case "scan_complete": {
      const { newBreachCount: count } = event;
      return `Scan complete: ${count} new ${count === 1 ? "finding" : "findings"}`;
    }
    case "scan_error":
      return asLine(event.error, maximumTitle);
  }
};

/** The breaches whose titles `titleOf` needs. */
export const breachesInTitle = (events: readonly AlertEvent[]): number[] =>
  events.flatMap((event) => {
    if (event.type === "risen") return [event.breachId];
    return event.type === "breach" || event.type === "owner" ? event.breachIds.slice(0, 1) : [];
  });
