import { type State, stateKey } from "../../shared/catalog/details.ts";
import * as table from "../../shared/table/table.ts";

/** As if the last sync of the catalog had ended this long ago. */
export const settle = async (seconds: number): Promise<void> => {
  const { recorded } = (await table.get<State>(stateKey())) ?? {};
  if (recorded === undefined) throw new Error("No sync has ended");
  const at = new Date(Date.now() - seconds * 1_000).toISOString();
  await table.update(stateKey(), { set: { recorded: { ...recorded, at } } });
};
