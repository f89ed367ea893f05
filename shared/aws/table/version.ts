/** The version of rows (contract/version.ts): no other folder sees the attribute. */
import { newestVersion, requireKnown, versionAttribute } from "../../contract/version.ts";
import type { Condition } from "./condition.ts";
import type { WireRow } from "./read.ts";

/** Takes the version off a row as it is on the wire. Throws `NewerVersion`. */
export const readable = (row: WireRow): WireRow => {
  const { N: version } = row[versionAttribute] ?? {};
  requireKnown("row", version === undefined ? row[versionAttribute] : Number(version));
  delete row[versionAttribute];
  return row;
};

/** A row of a newer version stays as it is, also where nobody has read it before the write. */
export const isNotNewer: Condition = {
  expression: `attribute_not_exists(#${versionAttribute}) OR #${versionAttribute} <= :newestVersion`,
  values: { newestVersion },
};
