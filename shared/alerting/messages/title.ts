import type { DeliveryRow, Headline } from "../deliveries/delivery.ts";
import { asLine } from "../kinds/as-line.ts";
import type { Content } from "./content.ts";
import { andMore, counted, peopleOf, unwatchedOf } from "./phrases.ts";

const maximumTitle = 200;

type Titles = ReadonlyMap<number, { title: string; isSensitive: boolean }>;

type Told = Pick<DeliveryRow, "event" | "headline">;

/** What a message about many people is about: who claims its attempt stores this, since only the findings say it. */
export const headlineOf = (content: Content): Headline | undefined => {
  if (content.kind === "scan" || content.kind === "owner" || content.kind === "example") return undefined;
  if (content.kind === "person" || content.kind === "event") {
    const [worst, ...rest] = content.breaches;
    const people = content.kind === "event" ? content.people : 1;
    return { ...(worst && { breachId: worst.id }), more: rest.length, people, isPart: false };
  }
  if (content.kind === "unwatched") {
    const [worst, ...rest] = content.breaches;
    const { count: unwatched, sensitive } = content;
    const more = rest.length + (worst === undefined ? 0 : sensitive);
    return { ...(worst && { breachId: worst.id }), more, people: 0, unwatched, isPart: false };
  }
  const { breaches, discreetPeople, inAll, isPart = false } = content;
  const { worst, more, people } = inAll;
  if (breaches.length === 0 || worst === undefined) return { more: 0, people: discreetPeople, isPart };
  return { breachId: worst.id, more: more + (discreetPeople > 0 ? 1 : 0), people, isPart };
};

/** What an event of a webhook is about is known before its first attempt. */
const knownHeadline = ({ event, headline }: Told): Headline | undefined => {
  if (headline !== undefined || event.type !== "gathered" || event.found === undefined) return headline;
  const [breachId = 0, ...rest] = event.found.breachIds;
  return { breachId, more: rest.length, people: event.found.people, isPart: false };
};

/**
 * What a delivery is about in one line, without anybody's name or address. `titles`: of breaches, by id.
 * `isDiscreet`: the channel names no sensitive breach.
 */
export const titleOf = (told: Told, titles: Titles, isDiscreet: boolean): string => {
  const { event } = told;
  const nameOf = (breachId: number | undefined): string => {
    if (breachId === undefined) return "A sensitive breach";
    const { title = "", isSensitive = false } = titles.get(breachId) ?? {};
    return isDiscreet && isSensitive ? "A sensitive breach" : asLine(title, maximumTitle, "A breach");
  };
  switch (event.type) {
    case "owner":
    case "breach": {
      const [worst = 0, ...rest] = event.breachIds;
      return `${nameOf(worst)}${andMore(rest.length)}: 1 person`;
    }
    case "gathered": {
      const isFirst = event.baseline !== undefined;
      const headline = knownHeadline(told);
      if (headline === undefined)
        return isFirst ? "Summary of the first scan" : "New findings in one message";
      const { breachId, more, people, isPart, unwatched } = headline;
      const what = `${nameOf(breachId)}${andMore(more)}`;
      if (unwatched !== undefined) return `${what}: ${unwatchedOf(unwatched)}`;
      return `${isFirst ? "First scan, " : ""}${what}: ${peopleOf(people, { isPart })}`;
    }
    case "risen":
      return `${nameOf(event.breachId)}, now worse: ${peopleOf(event.people)}`;
    case "scan_complete":
      return `Scan complete: ${counted(event.newBreachCount, "new finding", "new findings")}`;
    case "scan_error":
      return asLine(event.error, maximumTitle);
  }
};

/** The breaches whose titles `titleOf` needs. */
export const breachesInTitle = (rows: readonly Told[]): number[] =>
  rows.flatMap((row) => {
    const { event } = row;
    if (event.type === "risen") return [event.breachId];
    if (event.type === "gathered") return knownHeadline(row)?.breachId ?? [];
    return event.type === "breach" || event.type === "owner" ? event.breachIds.slice(0, 1) : [];
  });
