/** What followed from a directory for an address, in words. */
import { exactTime } from "../../text/dates.ts";

type Change = { at: string; did: "added" | "enabled" | "disabled" | "renamed" };

/**
 * Such as "Disabled on 3 Nov 2026, 08:15: the directory says that Ada Lovelace has left." `name` of the person;
 * `isNamed`: whether a directory still names the address.
 */
export function changeInWords({ at, did }: Change, name: string, isNamed: boolean): string {
  const on = `on ${exactTime(Date.parse(at))}`;
  switch (did) {
    case "added":
      return `Added ${on}: the directory named the address.`;
    case "enabled":
      return `Enabled ${on}: the directory says that ${name} is here.`;
    case "disabled":
      return isNamed
        ? `Disabled ${on}: the directory says that ${name} has left.`
        : `Disabled ${on}: no directory names the address any more.`;
    case "renamed":
      return `Changed ${on}: the directory gave another owner or team.`;
  }
}
