import { inject } from "vitest";
import { type LocalService, startService } from "../../local/harness/service.ts";

/**
 * Starts a local service for one test file. Its assembly is the shared service's unless another is given.
 * `parts`: variables of the service, such as AWS_ENDPOINT_URL_DYNAMODB.
 */
export const startOwnService = (
  options: readonly string[],
  parts: Record<string, string> = {},
  assembly: string = inject("assembly"),
): Promise<LocalService> => startService(options, parts, assembly);
