/**
 * The process that handler.ts starts: loads a function as Lambda does and calls its handler for every
 * message.
 */
import { createRequire } from "node:module";

export type Calls = { event: object; times: number };
/**
 * `cpuMilliseconds`: of all threads, for one call on average; `failed`: the first reply whose status is not
 * 200.
 */
export type Called = { cpuMilliseconds: number } | { failed: unknown };

type Handler = (event: object, context: object) => Promise<{ statusCode: number }>;

const [file = ""] = process.argv.slice(2);
const { handler } = createRequire(import.meta.url)(file) as { handler: Handler };

process.on("message", async ({ event, times }: Calls) => {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count++) {
    const reply = await handler(event, { awsRequestId: "bench", getRemainingTimeInMillis: () => 10_000 });
    if (reply.statusCode !== 200) {
      process.send?.({ failed: reply } satisfies Called);
      return;
    }
  }
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpuMilliseconds: (user + system) / 1000 / times } satisfies Called);
});
