/**
 * The one address that every function's AWS SDK talks to. The front verifies each request's signature and
 * checks it against the caller's role. Then it hands the request to the emulation of the service, or refuses
 * it as AWS does.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Pool } from "undici";
import {
  type Answer,
  type BehaviourSettings,
  openBehaviour,
  ReplyLost,
  undisturbed,
} from "../dynamodb/behaviour.ts";
import { keyNamesIn } from "../dynamodb/rows.ts";
import { openIam, secretAccessKey } from "../iam/iam.ts";
import { serveOnLoopback } from "../loopback.ts";
import type { Assembly } from "../template/assembly.ts";
import { isService, requiredPermissions, type Service, type TransactionKeys } from "./permissions.ts";
import { Refused, refuse } from "./refusal.ts";
import { type Authorization, readAuthorization, verify } from "./signature.ts";

export type Front = {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  close(): Promise<void>;
};

/** The header that tells an emulation the caller's access key id, which of a function is its name. */
export const callerHeader = "x-caller";

/** Headers of one connection; the connection to the emulation has its own. */
const connectionHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

const connectionsPerUpstream = 64;

/**
 * Starts the front on a free port. `upstreams` are the base URLs of the emulations; `dynamodb` is how DynamoDB
 * behaves beyond what its engine does.
 */
export const startFront = async (options: {
  assembly: Assembly;
  upstreams: Record<Service, string>;
  dynamodb?: BehaviourSettings;
  transactionKeys?: TransactionKeys;
}): Promise<Front> => {
  const { assembly, upstreams, dynamodb = undisturbed, transactionKeys } = options;
  const keyNames = keyNamesIn(assembly);
  const behave = openBehaviour(dynamodb, keyNames);
  const iam = openIam(assembly);
  const pools = openPools(upstreams);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A sixth of the time of "node:stream/consumers", which makes a Blob.
    const body = Buffer.concat(await request.toArray());
    const { method = "GET", url = "/", headers } = request;
    const authorization = authorizationOf(headers.authorization);
    const { accessKeyId: caller, service } = authorization;
    if (!iam.knows(caller, headers["x-amz-security-token"]?.toString())) {
      const message = "The security token included in the request is invalid.";
      throw new Refused(service, "UnrecognizedClientException", message);
    }
    verify({ method, url, headers, body }, authorization, secretAccessKey, assembly.region);
    const parsed = parseBody(body);
    if (parsed === undefined) {
      throw new Refused(service, "SerializationException", "The body is not a JSON object");
    }
    const target = headers["x-amz-target"]?.toString();
    const permissions = requiredPermissions(
      { service, method, url, target, body: parsed },
      assembly,
      keyNames,
      transactionKeys,
    );
    if (permissions.length === 0) {
      throw new Refused(service, "UnknownOperationException", `No operation is ${method} ${url}`);
    }
    for (const permission of permissions) {
      const refusal = iam.refusal(caller, permission);
      if (refusal !== undefined) throw new Refused(service, "AccessDeniedException", refusal);
    }
    const operation = target?.slice(target.indexOf(".") + 1) ?? "";
    const send = (bytes: Buffer, other?: string) =>
      forward(pools[service], caller, request, bytes, other && `DynamoDB_20120810.${other}`);
    reply(response, await (service === "dynamodb" ? behave(operation, parsed, body, send) : send(body)));
  };

  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch((error: Error) => {
      if (response.headersSent || error instanceof ReplyLost) response.destroy();
      else refuse(response, error);
    });
  });
  return {
    url: server.url,
    close: async () => {
      await Promise.all([server.close(), ...Object.values(pools).map((pool) => pool.destroy())]);
    },
  };
};

const openPools = (upstreams: Record<Service, string>): Record<Service, Pool> =>
  Object.fromEntries(
    Object.entries(upstreams).map(([service, url]) => [
      service,
      new Pool(new URL(url).origin, { connections: connectionsPerUpstream }),
    ]),
  ) as Record<Service, Pool>;

const authorizationOf = (header: string | undefined): Authorization & { service: Service } => {
  const authorization = readAuthorization(header);
  if (authorization === undefined) {
    throw new Refused("sts", "MissingAuthenticationTokenException", "Request is missing credentials");
  }
  const { service } = authorization;
  if (!isService(service)) {
    throw new Refused(service, "UnknownOperationException", `The local runtime has no ${service}`);
  }
  return { ...authorization, service };
};

const parseBody = (bytes: Buffer): Record<string, unknown> | undefined => {
  if (bytes.length === 0) return {};
  try {
    const body: unknown = JSON.parse(bytes.toString());
    return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

const forward = async (
  pool: Pool,
  caller: string,
  request: IncomingMessage,
  body: Buffer,
  target = request.headers["x-amz-target"]?.toString(),
): Promise<Answer> => {
  const headers = Object.entries(request.headers).filter(([name]) => !connectionHeaders.has(name));
  // DynamoDB Local, which may stand behind this, keeps a separate database for each access key id.
  const authorization = request.headers.authorization?.replace(/Credential=[^/]+/, "Credential=local");
  const answer = await pool.request({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: {
      ...Object.fromEntries(headers),
      authorization,
      [callerHeader]: caller,
      ...(target !== undefined && { "x-amz-target": target }),
    },
    body: body.length === 0 ? null : body,
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: Buffer.from(await answer.body.arrayBuffer()),
  };
};

const reply = (response: ServerResponse, { status, headers, body }: Answer): void => {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !connectionHeaders.has(name)) response.setHeader(name, value);
  }
  response.statusCode = status;
  response.end(body);
};
