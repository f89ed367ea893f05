import { inject } from "vitest";
import { type LocalService, startService } from "../../local/harness/service.ts";

/**
 * Starts a local service for one test file, from the assembly that the shared service has synthesized unless another is given.
 * `parts`: variables of the service, such as AWS_ENDPOINT_URL_DYNAMODB.
 */
export const startOwnService = (
  options: readonly string[],
  parts: Record<string, string> = {},
  assembly: string = inject("assembly"),
): Promise<LocalService> =>
  // Without this much memory functions end to make room for others, and starting them again takes most of the
  // time.
  startService(options, { LOCAL_KEPT_MEGABYTES: "65536", ...parts }, assembly);
