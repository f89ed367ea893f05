import type * as z from "zod/mini";
import type { RefusalName } from "./errors.ts";
import type { OrganizationLimit } from "./limits.ts";

/**
 * What a function may use. One word is both the IAM grant and the environment variables that go with it, so no
 * function can do what its contract does not say.
 */
export type Use =
  | "table:read"
  | "table:write"
  /** Counting requests: updates of the rows of limits, and of no others. */
  | "table:limits"
  | "table:due-index"
  | "queue:scan-plans"
  | "queue:scan-chunks"
  | "queue:scan-lookups"
  | "queue:deliveries"
  | "queue:delivery-retries"
  | "hibp"
  | "email";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The one file that a multipart/form-data body holds. */
export type Upload = {
  /** Name of its part. */
  field: string;
  /** What its name may end in, such as ".csv"; any case. */
  extensions: readonly string[];
  maximumBytes: number;
};

/**
 * The contract of one endpoint, as pure data: the handler, the route, the IAM role, the environment and the OpenAPI
 * document are all derived from it.
 */
export type Endpoint = {
  /** One line, as a client reads it in the reference. */
  summary: string;
  /** What a client has to know beyond that and cannot see from the schemas; Markdown. */
  description?: string;
  /** Path parameters; values arrive as strings. */
  path?: z.ZodMiniObject;
  /** Query parameters; values arrive as strings. */
  query?: z.ZodMiniObject;
  /** JSON body, an object. Absent: the body is not read. */
  body?: z.ZodMiniObject | z.ZodMiniDiscriminatedUnion;
  /** A file in a multipart/form-data body instead; it is read when the handler asks for it, so after the request counts. */
  upload?: Upload;
  /** Status of success. */
  status: 200 | 201;
  /** Body of success: replies go through it, so nothing that is not declared can leak. */
  reply: z.ZodMiniObject;
  /** What this endpoint may refuse, beside what every endpoint may (input, authentication, limits, billing). */
  refusals: readonly RefusalName[];
  /** The organization's hourly budget that a valid request is counted against. */
  limit?: OrganizationLimit;
  /** "by handler": the handler finds out itself whether and when the request counts. Default: before the handler. */
  counted?: "by handler";
  uses: readonly Use[];
  /** Default 10. */
  timeoutSeconds?: number;
  /** Default 256. */
  memoryMegabytes?: number;
};

export const defineEndpoint = <const E extends Endpoint>(endpoint: E): E => endpoint;

export type Route = { method: Method; path: string; name: string; endpoint: Endpoint };
