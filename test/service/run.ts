import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { assemblyPath } from "../../local/data-directory.ts";
import { startService } from "../../local/harness/service.ts";
import accounts from "../../local/hibp/breaches/accounts.json" with { type: "json" };
import catalog from "../../local/hibp/breaches/catalog.json" with { type: "json" };
import stealerLogs from "../../local/hibp/breaches/stealer-logs.json" with { type: "json" };
import { startNameServer } from "../alerting/name-server.ts";
import { createBreaches } from "./breaches.ts";
import { readLocalStack } from "./local-stack.ts";
import { readRecord } from "./name-records.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The base url of the API of the shared local service, such as http://127.0.0.1:3000/api/v1. */
    apiUrl: string;
    /** The url of the shared receiver of alerts (receiver.ts). */
    receiverUrl: string;
    /** The folder of what the name server of the shared local service answers (name-records.ts). */
    records: string;
    /** The path of the cloud assembly that the service runs, for further services of the same sources. */
    assembly: string;
  }
}

/** Who is breached in monday.test.ts. */
const mondays = Object.fromEntries([
  ["grace@monday.example", ["ExampleShop"]],
  ...Array.from({ length: 212 }, (_, index) => [`person-${index}@monday.example`, ["ExampleForum"]]),
]);

/** The global set-up of vitest: starts one service, one receiver and one name server for all test files. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const receiver: Receiver = await startReceiver();
  const { AWS_ENDPOINT_URL_DYNAMODB: engine } = process.env;
  const records = mkdtempSync(join(tmpdir(), "records-"));
  const nameServer = await startNameServer(({ name }) => readRecord(records, name));
  const directory = await createBreaches({ ...accounts, ...mondays }, catalog, stealerLogs);
  const options = ["--memory", "--allow-origin", receiver.url, "--dns", nameServer.address];
  const service = await startService([...options, "--breaches", directory], {
    ...(engine !== undefined && { AWS_ENDPOINT_URL_DYNAMODB: engine }),
  });
  const { dataDirectory } = await readLocalStack(service.apiUrl);
  provide("apiUrl", service.apiUrl);
  provide("receiverUrl", receiver.url);
  provide("records", records);
  provide("assembly", assemblyPath(dataDirectory));
  return async () => {
    await service.stop();
    await receiver.close();
    await nameServer.close();
  };
}
