import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../bin/admin/connect.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { startOwnService } from "./own-service.ts";

/** At this speed a failed message comes again after half a second to a second. */
const speed = 60;

let service: LocalService;
beforeAll(async () => {
  service = await startOwnService(["--speed", String(speed)]);
});
afterAll(() => service.stop());

type Line = { message?: string; receives?: string; timestamp?: string };

test("a message at which a worker fails comes again soon", async () => {
  const { outputs } = await connect({ port: String(service.port), stack: undefined });
  const { dataDirectory } = await readLocalStack(service.apiUrl);
  const QueueUrl = outputs.AcknowledgementsQueueUrl;
  const sqs = new SQSClient();
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"not": "a message of this queue"}' }));

  const readLines = async (): Promise<Line[]> => {
    const directory = join(dataDirectory, "logs");
    const stack = outputs.TableName?.replace(/-[^-]*$/, "") ?? "";
    const text = await readFile(join(directory, `${stack}-acknowledge-findings.log`), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Line);
  };
  const failures = (lines: Line[]) => lines.filter(({ message }) => message === "message failed");
  const lines = await eventually(readLines, (all) => failures(all).length >= 3);
  expect(failures(lines).map(({ receives }) => receives)).toEqual(["1", "2", "3"]);
  expect(lines.map(({ message }) => message)).not.toContain("message could not be shown again soon");
  const [first = 0, second = 0] = failures(lines).map(({ timestamp = "" }) => Date.parse(timestamp));
  expect(second - first).toBeGreaterThanOrEqual((30 * 1000) / speed - 100);
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["ApproximateNumberOfMessagesNotVisible"] }),
  );
  expect(Attributes?.ApproximateNumberOfMessagesNotVisible).toBe("1");
});
