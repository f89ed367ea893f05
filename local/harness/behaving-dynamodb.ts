import { type Answer, type BehaviourSettings, openBehaviour } from "../dynamodb/behaviour.ts";
import type { Body } from "../dynamodb/rows.ts";
import { startEngineProxy } from "./engine-proxy.ts";

/** Sees each request with its answer. */
export type Observe = (operation: string, body: Body, answer: Answer) => void;

/**
 * Starts a server that behaves as the local runtime's DynamoDB does. The engine behind it has tables with the
 * keys `pk` and `sk`. Roles are not checked.
 */
export const startBehavingDynamodb = (
  engineUrl: string,
  settings: BehaviourSettings,
  observe: Observe = () => {},
) => {
  const behave = openBehaviour(settings, () => ["pk", "sk"]);
  return startEngineProxy(engineUrl, async (request, operation, send) => {
    // A sixth of the time of "node:stream/consumers", which makes a Blob.
    const bytes = Buffer.concat(await request.toArray());
    const body = JSON.parse(bytes.toString());
    const answer = await behave(operation, body, bytes, send);
    observe(operation, body, answer);
    return answer;
  });
};
