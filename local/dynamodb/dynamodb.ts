import type { Assembly } from "../template/assembly.ts";
import { type Engine, startEngine } from "./engine.ts";
import { createTables } from "./tables.ts";

/**
 * Starts the DynamoDB engine on a free loopback port and creates missing tables of the template. `directory`
 * holds its file; undefined keeps everything in memory. Rejects if the engine does not start, or if the data
 * on disk has another table layout.
 *
 * AWS_ENDPOINT_URL_DYNAMODB names another server to use instead, for example DynamoDB Local. All requests
 * reach it with the access key id "local" (front/front.ts), so it needs no `-sharedDb`.
 */
export const startDynamodb = async (settings: {
  assembly: Assembly;
  directory: string | undefined;
  /** Called if the engine ends without having been asked to. */
  onUnexpectedEnd?: (reason: string) => void;
}): Promise<Engine> => {
  const { assembly, directory, onUnexpectedEnd = () => {} } = settings;
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const engine = given
    ? { endpoint: given, processId: undefined, close: async () => {} }
    : await startEngine(directory, onUnexpectedEnd);
  try {
    await createTables(assembly, engine.endpoint);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
};
