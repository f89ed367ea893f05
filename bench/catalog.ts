import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { stateKey } from "../shared/monitoring/hibp/breach-details.ts";
import { engineClient, tableOf } from "./database.ts";
import type { Bench } from "./service.ts";

/**
 * Decides whether instances cache the details of breaches (shared/monitoring/hibp/breach-details.ts). `"changing"`: the
 * catalog counts as being changed, so that they cache nothing. `"settled"`: it changed long ago, so that they
 * cache what they read from now on.
 */
export const setCatalog = async (
  { engine, assembly }: Pick<Bench, "engine" | "assembly">,
  to: "changing" | "settled",
): Promise<void> => {
  const client = engineClient(engine.url);
  const token = `settled-${Date.now()}`;
  const settled = marshall({ ":token": token, ":recorded": { token, at: "2000-01-01T00:00:00.000Z" } });
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableOf(assembly).name,
        Key: marshall(stateKey()),
        ExpressionAttributeNames: { "#recorded": "recorded", ...(to === "settled" && { "#token": "token" }) },
        ...(to === "changing"
          ? { UpdateExpression: "REMOVE #recorded" }
          : {
              UpdateExpression: "SET #token = :token, #recorded = :recorded",
              ExpressionAttributeValues: settled,
            }),
      }),
    );
  } finally {
    client.destroy();
  }
};
