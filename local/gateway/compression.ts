/** What an API's MinimumCompressionSize turns on: compressed answers and compressed requests. */
import { constants, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import type { HttpReply } from "./gateway-response.ts";
import { Refused } from "./refusal.ts";
import { type GatewayRequest, headerOf, maximumBodyBytes } from "./request.ts";

/**
 * The body without its compression, and the request's headers that fit it. Codings other than gzip and
 * deflate are 415, as are bodies that are not so compressed. (Developer guide of API Gateway: "Call an API
 * method with a compressed payload".)
 */
export const decompress = (
  request: GatewayRequest,
  body: Buffer,
): { headers: GatewayRequest["headers"]; bytes: Buffer } => {
  const encoding = headerOf(request, "content-encoding")?.toLowerCase();
  if (body.length === 0 || encoding === undefined || encoding === "identity") {
    return { headers: request.headers, bytes: body };
  }
  if (encoding !== "gzip" && encoding !== "deflate") throw new Refused({ type: "UNSUPPORTED_MEDIA_TYPE" });
  const headers = request.headers.filter(([name]) => name.toLowerCase() !== "content-encoding");
  try {
    const unpack = encoding === "gzip" ? gunzipSync : inflateSync;
    return { headers, bytes: unpack(body, { maxOutputLength: maximumBodyBytes }) };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new Refused({ type: isTooLarge ? "REQUEST_TOO_LARGE" : "UNSUPPORTED_MEDIA_TYPE" });
  }
};

/** The answer, compressed if it is long enough and not compressed yet, and if the client accepts gzip. */
export const compress = (reply: HttpReply, request: GatewayRequest, minimumBytes: number): HttpReply => {
  const isEncoded = reply.headers.some(([name]) => name.toLowerCase() === "content-encoding");
  const isAccepted = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(
    headerOf(request, "accept-encoding") ?? "",
  );
  if (reply.body.length < Math.max(1, minimumBytes) || isEncoded || !isAccepted) return reply;
  return {
    ...reply,
    headers: [...reply.headers, ["Content-Encoding", "gzip"]],
    body: gzipSync(reply.body, { level: constants.Z_BEST_SPEED }),
  };
};
