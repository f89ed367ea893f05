import type { LoopbackServer } from "../../local/loopback.ts";
import { startParameters } from "../../local/parameters/parameters.ts";

/**
 * Starts a parameter store in memory. It has the key of alert channels and the HIBP key `key-1` for this
 * process.
 */
export const startParameterStore = async (): Promise<LoopbackServer> => {
  const assembly = { region: "us-east-1", accountId: "000000000000" };
  const hibpKey = "/breach-monitor/test/hibp-api-key";
  const parameters = await startParameters({ assembly, directory: undefined, given: { [hibpKey]: "key-1" } });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SSM: parameters.url,
    CHANNEL_KEY_PARAMETER: "/breach-monitor/test/channel-key",
    HIBP_API_KEY_PARAMETER: hibpKey,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  });
  return parameters;
};
