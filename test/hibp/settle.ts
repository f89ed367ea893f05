import * as table from "../../shared/aws/table/table.ts";
import { type State, stateKey } from "../../shared/hibp/breach-details.ts";

/** Makes the last sync of the catalog look as if it had ended this many seconds ago. */
export const settle = async (seconds: number): Promise<void> => {
  const { recorded } = (await table.get<State>(stateKey())) ?? {};
  if (recorded === undefined) throw new Error("No sync has completed: call catalog.sync first");
  const at = new Date(Date.now() - seconds * 1_000).toISOString();
  await table.update(stateKey(), { set: { recorded: { ...recorded, at } } });
};
