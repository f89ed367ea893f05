import type { TestProject } from "vitest/node";
import { assemblyPath } from "../../local/data-directory.ts";
import { startService } from "../../local/harness/service.ts";
import { readLocalStack } from "./local-stack.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The base url of the API of the shared local service, such as http://127.0.0.1:3000/api/v1. */
    apiUrl: string;
    /** The url of the shared receiver of alerts (receiver.ts). */
    receiverUrl: string;
    /** The path of the cloud assembly that the service runs, for further services of the same sources. */
    assembly: string;
  }
}

/** The global set-up of vitest: starts one service and one receiver for all test files. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const receiver: Receiver = await startReceiver();
  const { AWS_ENDPOINT_URL_DYNAMODB: engine } = process.env;
  const service = await startService(["--memory", "--allow-origin", receiver.url], {
    LOCAL_KEPT_MEGABYTES: "65536",
    ...(engine !== undefined && { AWS_ENDPOINT_URL_DYNAMODB: engine }),
  });
  const { dataDirectory } = await readLocalStack(service.apiUrl);
  provide("apiUrl", service.apiUrl);
  provide("receiverUrl", receiver.url);
  provide("assembly", assemblyPath(dataDirectory));
  return async () => {
    await service.stop();
    await receiver.close();
  };
}
