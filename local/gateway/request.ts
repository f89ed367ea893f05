/** A request as the gateway has received it, and API Gateway's limits for it. */
import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refused } from "./refusal.ts";
import type { Route } from "./routes.ts";

export type Pairs = [name: string, value: string][];

export type GatewayRequest = {
  id: string;
  extendedId: string;
  /** Unix time in milliseconds. */
  receivedAt: number;
  method: string;
  /** The raw path, beginning with the stage: `/api/v1/emails`. */
  path: string;
  /** The client's headers, and those that the gateway adds. */
  headers: Pairs;
  query: Pairs;
  sourceIp: string;
};

/** A request whose route is known. */
export type RoutedRequest = GatewayRequest & {
  /** The raw path without the stage. */
  resourcePath: string;
  /** Path parameters, decoded. */
  pathParameters: Record<string, string>;
  route: Route;
  stage: string;
  apiId: string;
  accountId: string;
  region: string;
};

export const maximumBodyBytes = 10 * 1024 * 1024;

/** Limit of the request line and all headers together. */
const maximumHeaderBytes = 10_240;

/** Headers that the gateway sets itself, whatever the client sent. */
const gatewayHeaders = new Set(["x-forwarded-for", "x-forwarded-port", "x-forwarded-proto"]);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const readRequest = (incoming: IncomingMessage): GatewayRequest => {
  const { pathname, search } = splitUrl(incoming.url ?? "/");
  const receivedAt = Date.now();
  const sourceIp = (incoming.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const sent = pairsOf(incoming.rawHeaders);
  const forwardedFor = sent
    .filter(([name]) => name.toLowerCase() === "x-forwarded-for")
    .map(([, value]) => value);
  // Clients may choose the id.
  const chosenId = sent.find(([name]) => name.toLowerCase() === "x-amzn-requestid")?.[1];
  const id = chosenId !== undefined && uuid.test(chosenId) ? chosenId : randomUUID();
  return {
    id,
    extendedId: randomBytes(9).toString("base64"),
    receivedAt,
    method: incoming.method ?? "GET",
    path: pathname,
    headers: [
      ...sent.filter(([name]) => !gatewayHeaders.has(name.toLowerCase())),
      ["X-Forwarded-For", [...forwardedFor, sourceIp].join(", ")],
      ["X-Forwarded-Port", String(incoming.socket.localPort)],
      ["X-Forwarded-Proto", "http"],
    ],
    query: [...new URLSearchParams(search)],
    sourceIp,
  };
};

const splitUrl = (url: string): { pathname: string; search: string } => {
  // The target may be absolute, as to a proxy.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "");
  const [beforeFragment = ""] = target.split("#");
  const question = beforeFragment.indexOf("?");
  return question === -1
    ? { pathname: beforeFragment, search: "" }
    : { pathname: beforeFragment.slice(0, question), search: beforeFragment.slice(question + 1) };
};

const pairsOf = (rawHeaders: string[]): Pairs => {
  const pairs: Pairs = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return pairs;
};

/** The first value of a header. `name` is in lower case; the request's own names may have any case. */
export const headerOf = ({ headers }: GatewayRequest, name: string): string | undefined =>
  headers.find(([candidate]) => candidate.toLowerCase() === name)?.[1];

/** Throws `Refused` if the request line and headers are too long together. */
export const refuseLongHeaders = (incoming: IncomingMessage): void => {
  const lines = incoming.rawHeaders.reduce((bytes, part) => bytes + part.length + 2, 0);
  const bytes = lines + (incoming.url ?? "").length + (incoming.method ?? "").length;
  if (bytes > maximumHeaderBytes) {
    throw new Refused({ type: "DEFAULT_4XX", status: 431, message: "Request Header Fields Too Large" });
  }
};

/** The request's body is longer than API Gateway reads. */
export class BodyTooLong extends Error {}

/** Reads the whole body. Throws `BodyTooLong` as soon as it is too long. */
export const readBody = async (incoming: IncomingMessage): Promise<Buffer> => {
  const tooLong = () => new BodyTooLong(`HTTP content length exceeded ${maximumBodyBytes} bytes.`);
  if (Number(incoming.headers["content-length"] ?? 0) > maximumBodyBytes) throw tooLong();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      // The rest is read and dropped: closing the connection now would lose the answer on its way.
      if (bytes <= maximumBodyBytes) chunks.push(chunk);
      else reject(tooLong());
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks)));
    incoming.on("error", reject);
  });
};
