/**
 * The worker process of bullmq.ts. Each job is one webhook request, sent by the same code as the service
 * sends its own.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { post } from "../shared/alerting/kinds/outbound.ts";
import { type BullMq, queueName } from "./bullmq.ts";

const [directory = "", port = "", concurrency = ""] = process.argv.slice(2);
const { Worker } = createRequire(join(directory, "package.json"))("bullmq") as BullMq;
const worker = new Worker(
  queueName,
  async ({ data: { id, url } }) => {
    const outcome = await post({ url, headers: {}, body: JSON.stringify({ id }) });
    if ("failure" in outcome) throw new Error(outcome.failure);
  },
  { connection: { host: "127.0.0.1", port: Number(port) }, concurrency: Number(concurrency) },
);
worker.on("error", () => undefined);
process.on("disconnect", () => process.exit());
process.send?.("ready");
