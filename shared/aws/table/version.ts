/** The version of rows (contract/version.ts): no other folder sees the attribute. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { requireKnown, versionAttribute } from "../../contract/version.ts";

/** A row with its values as they are on the wire: `{ N: "12" }`, `{ S: "a" }`. */
export type WireRow = Record<string, AttributeValue>;

/** Takes the version off a row as it is on the wire. Throws `NewerVersion`. */
export const readable = (row: WireRow): WireRow => {
  const { N: version } = row[versionAttribute] ?? {};
  requireKnown("row", version === undefined ? row[versionAttribute] : Number(version));
  delete row[versionAttribute];
  return row;
};
