/** Deletes rows soon after their time to live. DynamoDB may take days to do so, or seconds. */
import type { Send } from "./behaviour.ts";
import type { KeyNames, Row } from "./rows.ts";

/** Rows that live longer are left alone: no local run waits for them. */
const longestMilliseconds = 86_400_000;

/** Notes each write. `attribute` has the epoch seconds after which a row may be deleted. */
export const openExpiry = (attribute: string, keyNames: KeyNames): ((row: Row, send: Send) => void) => {
  const look = async ({ id }: Row, send: Send): Promise<void> => {
    const [table, ...values] = JSON.parse(id) as [string, ...unknown[]];
    const Key = Object.fromEntries(keyNames(table).map((name, place) => [name, values[place]]));
    const request = { TableName: table, Key };
    const found = await send(Buffer.from(JSON.stringify({ ...request, ConsistentRead: true })), "GetItem");
    const { Item = {} } = JSON.parse(found.body.toString()) as { Item?: Record<string, { N?: string }> };
    const seconds = Item[attribute]?.N;
    if (seconds === undefined) return;
    const wait = Number(seconds) * 1_000 - Date.now();
    if (wait > longestMilliseconds) return;
    const deletion = {
      ...request,
      ConditionExpression: "#expiry = :expiry",
      ExpressionAttributeNames: { "#expiry": attribute },
      ExpressionAttributeValues: { ":expiry": { N: seconds } },
    };
    const remove = () => send(Buffer.from(JSON.stringify(deletion)), "DeleteItem").catch(() => {});
    setTimeout(remove, Math.max(0, wait)).unref();
  };
  // A row that cannot be read stays, as it may on DynamoDB.
  return (row, send) => void look(row, send).catch(() => {});
};
