/**
 * The process that starts.ts starts, with the share of a core that Lambda gives: loads a function as Lambda does, and
 * calls its handler for each message.
 */
import { createRequire } from "node:module";

export type Invoked = { failed: unknown } | { endedAt: number; cpuMilliseconds: number };

type Handler = (event: object, context: object) => Promise<{ statusCode?: number; policyDocument?: unknown }>;

const [file = ""] = process.argv.slice(2);
const { handler } = createRequire(import.meta.url)(file) as { handler: Handler };

let counted = process.cpuUsage({ user: 0, system: 0 });
process.on("message", async (event: object) => {
  const reply = await handler(event, { awsRequestId: "bench", getRemainingTimeInMillis: () => 10_000 });
  const endedAt = Date.now();
  const { user, system } = process.cpuUsage(counted);
  counted = process.cpuUsage();
  const isRight = reply.statusCode === 200 || JSON.stringify(reply.policyDocument)?.includes('"Allow"');
  const invoked = isRight ? { endedAt, cpuMilliseconds: (user + system) / 1000 } : { failed: reply };
  process.send?.(invoked satisfies Invoked);
});
process.send?.("ready");
