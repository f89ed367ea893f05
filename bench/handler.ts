import { openAssembly } from "../local/assembly.ts";
import { openLambda } from "../local/lambda.ts";
import { functionsOf } from "./functions.ts";
import { cpuMilliseconds, instancesOf } from "./processes.ts";
import { startReplay } from "./replay.ts";
import { type Bench, scratchDirectory } from "./service.ts";

export type Handler = {
  /** Mean of warm calls. `path`: below /api/v1, with its query. */
  cpuMilliseconds: (path: string) => Promise<number>;
  close: () => Promise<void>;
};

/** After some hundred calls V8 has compiled what is hot; the first calls take about three times as much. */
const warmCalls = 400;
const countedCalls = 200;

/**
 * The function of an endpoint that only reads, in an instance as any other, but with the table's replies replayed
 * (replay.ts): its CPU time is then its own, with all threads of its process.
 */
export const startHandler = async (bench: Bench, name: string): Promise<Handler> => {
  const assembly = openAssembly(bench.assembly, { region: "us-east-1", accountId: "000000000000" });
  const replay = await startReplay(bench.meter.url);
  const lambda = openLambda({
    assembly,
    logDirectory: scratchDirectory(),
    speed: 1,
    variables: () => ({
      AWS_ENDPOINT_URL_DYNAMODB: replay.url,
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: "local",
    }),
  });
  const info = functionsOf(bench.assembly).get(name);
  if (info === undefined) throw new Error(`There is no function ${name}`);
  const arn = `arn:aws:lambda:${assembly.region}:${assembly.accountId}:function:${info.fullName}`;

  const invoke = async (path: string, times: number): Promise<void> => {
    const event = eventOf(bench, path);
    for (let count = 0; count < times; count++) {
      const { payload } = await lambda.invoke(arn, event);
      const { statusCode } = payload as { statusCode?: number };
      if (statusCode !== 200)
        throw new Error(`GET ${path} answered ${statusCode}: ${JSON.stringify(payload)}`);
    }
  };
  const used = (): number =>
    (instancesOf(process.pid).get(info.fullName) ?? []).reduce((sum, id) => sum + cpuMilliseconds(id), 0);
  return {
    cpuMilliseconds: async (path) => {
      await invoke(path, warmCalls);
      const before = used();
      await invoke(path, countedCalls);
      return (used() - before) / countedCalls;
    },
    close: async () => {
      await lambda.close();
      await replay.close();
    },
  };
};

/** What a handler reads of API Gateway's event. */
const eventOf = ({ seeded }: Bench, path: string): object => {
  const { searchParams } = new URL(path, "http://localhost");
  return {
    multiValueQueryStringParameters: Object.fromEntries(
      [...searchParams].map(([name, value]) => [name, [value]]),
    ),
    requestContext: {
      requestId: "bench",
      httpMethod: "GET",
      requestTimeEpoch: Date.now(),
      authorizer: {
        organizationId: String(seeded.org),
        actorType: "api_key",
        actorId: "1",
        actorLabel: "bench",
      },
    },
  };
};
