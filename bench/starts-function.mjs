/**
 * The process that starts.ts starts, with the share of a core that Lambda gives: loads a function as Lambda does, and
 * calls its handler for each message. It is JavaScript because stripping types would count as the function's start.
 */
import { createRequire } from "node:module";

/** @typedef {{ failed: unknown } | { endedAt: number, cpuMilliseconds: number }} Invoked */
/** @typedef {(event: unknown, context: object) => Promise<{ statusCode?: number, policyDocument?: unknown }>} Handler */

const [file = ""] = process.argv.slice(2);
const { handler } = /** @type {{ handler: Handler }} */ (createRequire(import.meta.url)(file));

let counted = { user: 0, system: 0 };
process.on("message", async (event) => {
  const reply = await handler(event, { awsRequestId: "bench", getRemainingTimeInMillis: () => 10_000 });
  const endedAt = Date.now();
  const { user, system } = process.cpuUsage(counted);
  counted = process.cpuUsage();
  const isRight = reply.statusCode === 200 || JSON.stringify(reply.policyDocument)?.includes('"Allow"');
  /** @type {Invoked} */
  const invoked = isRight ? { endedAt, cpuMilliseconds: (user + system) / 1000 } : { failed: reply };
  process.send?.(invoked);
});
process.send?.("ready");
