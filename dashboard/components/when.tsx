import { exactTime, relativeTime } from "../text/dates.ts";
import { now } from "./clock.ts";

/** A time: how long ago, and exactly when. */
export function When({ time, none = "–" }: { time: string | null; none?: string }) {
  if (time === null) return <span class="muted">{none}</span>;
  const at = Date.parse(time);
  const exactly = exactTime(at);
  return (
    <time class="when" dateTime={time} title={exactly}>
      <span>{relativeTime(at, now())}</span> <small>{exactly}</small>
    </time>
  );
}
