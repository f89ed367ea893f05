import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type UpstreamServer = {
  /** The requests to HIBP so far. `at` is the time of arrival in epoch milliseconds. */
  requests: { path: string; headers: IncomingMessage["headers"]; at: number }[];
  /** How often the secret was read. */
  secretReads: () => number;
  /** The API key in the secret. When it is undefined, Secrets Manager fails. */
  secret: string | undefined;
  /** Answers a request to HIBP. `path` begins after the base path. */
  answer: (path: string, request: IncomingMessage, response: ServerResponse) => void;
  stop: () => Promise<void>;
};

/**
 * Starts an HTTP server that stands for HIBP, with answers that the test gives, and for the one call of
 * Secrets Manager that the client makes. Points the environment variables at the server.
 */
export const startUpstream = async (): Promise<UpstreamServer> => {
  let secretReads = 0;
  const upstream: UpstreamServer = {
    requests: [],
    secretReads: () => secretReads,
    secret: "key-1",
    answer: (_path, _request, response) => reply(response, 404),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    if (request.headers["x-amz-target"] === "secretsmanager.GetSecretValue") {
      secretReads++;
      if (upstream.secret === undefined)
        return reply(response, 400, { __type: "ResourceNotFoundException", message: "no" });
      return reply(response, 200, { SecretString: upstream.secret });
    }
    const path = (request.url ?? "").replace(/^\/api\/v3\//, "");
    upstream.requests.push({ path, headers: request.headers, at: Date.now() });
    upstream.answer(path, request, response);
  });
  // Longer than pauses between tests: a connection must not end just when the client uses it again.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, {
    HIBP_BASE_URL: `${url}/api/v3`,
    HIBP_API_KEY_SECRET_ARN: `arn:aws:secretsmanager:us-east-1:000000000000:secret:hibp-${Date.now()}`,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  });
  return upstream;
};

export const reply = (
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, headers);
  response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
};
