import type { AlertEvent } from "../deliveries/delivery.ts";
import { asLine } from "./notice.ts";

const maximumTitle = 200;

/** What an event is about in one line, without anybody's name or address. `titles`: of breaches, by id. */
export const titleOf = (event: AlertEvent, titles: ReadonlyMap<number, { title: string }>): string => {
  switch (event.type) {
    case "breach": {
      const [worst = 0, ...others] = event.breachIds;
      const name = asLine(titles.get(worst)?.title ?? "", maximumTitle, "A breach");
      return `${name}${others.length === 0 ? "" : ` and ${others.length} more`}: 1 person`;
    }
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
  events.flatMap((event) => (event.type === "breach" ? event.breachIds.slice(0, 1) : []));
