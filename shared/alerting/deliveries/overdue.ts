import { dueIndex, dueShardsOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

/** Deliveries are due for less than two minutes while the re-dispatch runs. */
const overdueMilliseconds = 10 * 60_000;

/** Whether a delivery has been due for so long that the re-dispatch cannot be running. */
export const isRedispatchSilent = async (now: Date): Promise<boolean> => {
  const to = new Date(now.getTime() - overdueMilliseconds).toISOString();
  const isAnyOverdue = async (pk: string): Promise<boolean> =>
    (await table.query({ index: dueIndex, pk, to, limit: 1 })).length > 0;
  return (await Promise.all(dueShardsOf("DELIVERY").map(isAnyOverdue))).includes(true);
};
