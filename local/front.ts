/**
 * The one address that every function's AWS SDK talks to. It checks each request against the caller's role and hands it on
 * to the emulation behind it, or answers as AWS does when the role does not allow it. Signatures are not verified: who
 * can reach this port can read the keys as well.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import type { Assembly } from "./assembly.ts";
import { openIam } from "./iam.ts";
import { isService, requiredPermissions, type Service } from "./permissions.ts";

export type Front = {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  close(): Promise<void>;
};

/** Headers that belong to one connection; the one to the emulation has its own. */
const connectionHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
]);
const connectionsPerUpstream = 64;

/** Tells what stands behind the front whose request it is: the access key id, which of a function is its name. */
export const callerHeader = "x-caller";

/** Starts the front on a free port. `upstreams` are the base URLs of the emulations. */
export async function startFront(options: {
  assembly: Assembly;
  upstreams: Record<Service, string>;
}): Promise<Front> {
  const { assembly, upstreams } = options;
  const iam = openIam(assembly);
  const pools = Object.fromEntries(
    Object.entries(upstreams).map(([service, url]) => [
      service,
      new Pool(new URL(url).origin, { connections: connectionsPerUpstream }),
    ]),
  ) as Record<Service, Pool>;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBody(request);
    const { method = "GET", url = "/", headers } = request;
    const [accessKeyId, service] = credentialsOf(headers.authorization);
    if (accessKeyId === undefined || service === undefined) {
      return refuse(response, "sts", "MissingAuthenticationTokenException", "Request is missing credentials");
    }
    if (!isService(service)) {
      const message = `The local runtime has no ${service}`;
      return refuse(response, service, "UnknownOperationException", message);
    }
    if (!iam.knows(accessKeyId)) {
      const message = "The security token included in the request is invalid.";
      return refuse(response, service, "UnrecognizedClientException", message);
    }
    const body = parseBody(bytes);
    if (body === undefined) {
      return refuse(response, service, "SerializationException", "The body is not a JSON object");
    }
    const target = headers["x-amz-target"]?.toString();
    const permissions = requiredPermissions(service, { service, method, url, target, body }, assembly);
    if (permissions.length === 0) {
      return refuse(response, service, "UnknownOperationException", `No operation is ${method} ${url}`);
    }
    for (const permission of permissions) {
      const refusal = iam.refusal(accessKeyId, permission);
      if (refusal !== undefined) return refuse(response, service, "AccessDeniedException", refusal);
    }
    await forward(pools[service], accessKeyId, request, bytes, response);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      // The SDK retries this, as it does when a service of AWS is unavailable.
      if (response.headersSent) response.destroy();
      else refuse(response, "local", "ServiceUnavailable", error.message, 503);
    });
  });
  // The SDK keeps connections; one that is closed while it sends a request would fail that request.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, ...Object.values(pools).map((pool) => pool.destroy())]);
    },
  };
}

/** The access key id and the service of a Signature Version 4 Authorization header. */
function credentialsOf(authorization = ""): (string | undefined)[] {
  const scope = /Credential=([^,\s]+)/.exec(authorization)?.[1]?.split("/");
  return scope?.length === 5 ? [scope[0], scope[3]] : [];
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parseBody(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes.length === 0) return {};
  try {
    const body: unknown = JSON.parse(bytes.toString());
    return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function forward(
  pool: Pool,
  caller: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const headers = Object.entries(request.headers).filter(([name]) => !connectionHeaders.has(name));
  // DynamoDB Local, which may stand behind this, keeps a database of its own for each access key id.
  const authorization = request.headers.authorization?.replace(/Credential=[^/]+/, "Credential=local");
  const answer = await pool.request({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: { ...Object.fromEntries(headers), authorization, [callerHeader]: caller },
    body: body.length === 0 ? null : body,
  });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !connectionHeaders.has(name)) response.setHeader(name, value);
  }
  response.statusCode = answer.statusCode;
  response.end(bytes);
}

/** Statuses with which services refuse a caller; the others say 400. */
const refusalStatus: Record<string, number> = { scheduler: 403, ses: 403, sqs: 403 };

function refuse(
  response: ServerResponse,
  service: string,
  code: string,
  message: string,
  status = refusalStatus[service] ?? 400,
): void {
  response.writeHead(status, {
    "content-type":
      service === "dynamodb" || service === "sqs" ? "application/x-amz-json-1.0" : "application/json",
    "x-amzn-errortype": code,
    "x-amzn-requestid": randomUUID(),
  });
  response.end(JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message, Message: message }));
}
