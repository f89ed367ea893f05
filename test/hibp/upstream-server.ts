import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { UpstreamFailure } from "../../shared/hibp/hibp.ts";
import { startParameterStore } from "../alerting/parameter-store.ts";

export type UpstreamServer = {
  /** The requests to HIBP so far. `at` is the time of arrival in epoch milliseconds. */
  requests: { path: string; headers: IncomingMessage["headers"]; at: number }[];
  /** Answers a request to HIBP. `path` begins after the base path. */
  answer: (path: string, request: IncomingMessage, response: ServerResponse) => void;
  /** Answers all requests from now on with this. */
  answerAll: (status: number, body?: unknown, headers?: Record<string, string>) => void;
  /** Ends the parameter store alone. */
  stopParameters: () => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts an HTTP server that stands for HIBP, with the test's answers, and a parameter store with the key.
 * Points the client at both.
 */
export const startUpstream = async (): Promise<UpstreamServer> => {
  const parameters = await startParameterStore();
  const upstream: UpstreamServer = {
    requests: [],
    answer: (_path, _request, response) => reply(response, 404),
    answerAll: (...of) => {
      upstream.answer = (_path, _request, response) => reply(response, ...of);
    },
    stopParameters: parameters.close,
    stop: async () => {
      await parameters.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^\/api\/v3\//, "");
    upstream.requests.push({ path, headers: request.headers, at: Date.now() });
    upstream.answer(path, request, response);
  });
  // Longer than pauses between tests: a connection must not end just when the client uses it again.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.HIBP_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
  return upstream;
};

/** The failure that a call throws. */
export const failureOf = async (call: Promise<unknown>): Promise<UpstreamFailure> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamFailure);
  return error as UpstreamFailure;
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
