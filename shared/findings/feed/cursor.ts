/** Places in the feed, as clients keep them. */
import { createHash } from "node:crypto";
import { Refusal } from "../../contract/errors.ts";

/** The ids of the last finding and of the last entry of the activity log that were given; 0 before the first. */
export type Place = { finding: number; entry: number };

const version = "1";

/**
 * Tells damaged cursors, and those of other organizations, from good ones. It needs no key: whoever makes a
 * cursor of their own only reads their own organization's feed from another place.
 */
const checkOf = (org: number, text: string): string =>
  createHash("sha256").update(`feed ${org} ${text}`).digest("base64url").slice(0, 16);

export const cursorOf = (org: number, { finding, entry }: Place): string => {
  const text = [version, finding, entry].join(".");
  return Buffer.from(`${text}.${checkOf(org, text)}`).toString("base64url");
};

/** The place of a cursor. Refuses `invalidInput` unless `cursorOf` made it for this organization. */
export const placeOf = (org: number, cursor: string): Place => {
  const [, finding, entry] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  const place = { finding: Number(finding), entry: Number(entry) };
  if (cursor === cursorOf(org, place)) return place;
  throw new Refusal("invalidInput", { error: "after: is no cursor that this organization's feed has given" });
};
