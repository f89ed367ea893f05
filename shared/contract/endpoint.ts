import * as z from "zod/mini";
import type { RefusalName } from "./errors.ts";
import type { OrganizationLimit } from "./limits.ts";
import type { QueueName } from "./messages.ts";

/**
 * What a function may use. Each word stands for an IAM grant and its environment variables. So no function
 * can use what its contract does not name.
 */
export type Use =
  | "table:read"
  /** All rows but those that the words `table:write:` add, and the operators' log, which no function writes. */
  | "table:write"
  /** Rows of API keys, sessions, sign-in links and users. */
  | "table:write:identities"
  /** How often an organization is scanned, and that it is being deleted. */
  | "table:write:organizations"
  /** To delete an organization's row. */
  | "table:delete:organizations"
  | "table:write:domains"
  | "table:write:channels"
  /** Connected directories, with the hashes of their tokens. */
  | "table:write:directories"
  /** To check, in a transaction that writes an e-mail, that its domain is unchanged. */
  | "table:check:domains"
  /** Updates of the rows that count requests, and of no other rows. */
  | "table:limits"
  /** Updates of the rows of sessions and API keys, to note when each was last used. */
  | "table:credentials"
  /** Updates of connected directories, to note when each was last used. */
  | "table:directory-use"
  /** Updates of the rows of recipients of alerts, and of no other rows. */
  | "table:recipients"
  | "table:due-index"
  | "table:breach-index"
  /** To send to the queue. */
  | `queue:${QueueName}`
  /** The schedules of organizations' scans. */
  | "schedules"
  /** To hand schedules the role in which they start scans. */
  | "schedule-role"
  | "hibp"
  /** To seal and open secrets of alert channels, and to make the key if there is none. */
  | "channel-key"
  | "email"
  /** To ask recipients of alerts to confirm, where the deployment wants that; elsewhere nothing. */
  | "email-confirmation"
  /** To read the secret with which this service proves to the identity provider who it is. */
  | "provider";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

type Access = "anyone" | "user" | "admin";

/** The only file of a multipart/form-data body. */
export type Upload = {
  /** Name of the file's part. */
  field: string;
  /** Allowed ends of the file's name in lower case, such as ".csv". The name itself may be in any case. */
  extensions: readonly string[];
  maximumBytes: number;
};

/**
 * The contract of one endpoint, as pure data. From it derive the handler's input and reply, the route, the
 * IAM role, the environment variables and the OpenAPI document.
 */
export type Endpoint = {
  /** One line, as a client reads it in the reference. */
  summary: string;
  /** What a client cannot see from the summary and the schemas; Markdown. */
  description?: string;
  /** Path parameters; values arrive as strings. */
  path?: z.ZodMiniObject;
  /** Query parameters; values arrive as strings. */
  query?: z.ZodMiniObject;
  /** JSON body, an object. Absent: the body is not read. */
  body?: z.ZodMiniObject | z.ZodMiniDiscriminatedUnion;
  /** A file in a multipart/form-data body, instead of `body`. Read when the handler calls `file()`. */
  upload?: Upload;
  /**
   * HTTP status of success. Default: 200. 303: the reply's `location` is the url of the page that the browser
   * goes on to.
   */
  status: 200 | 201 | 202 | 303;
  /**
   * JSON body of success. Default: `{success: true}`, which a handler that gives nothing answers with. Every
   * reply is parsed by this schema, so that undeclared fields cannot leak.
   */
  reply: z.ZodMiniObject;
  /** Another form of success, which the handler chooses by returning `new Instead(body)` (api/serve.ts). */
  instead?: { status: 200 | 202; when: string; reply: z.ZodMiniObject };
  /**
   * What refuses fields that no person has typed, such as what a link or a device holds. Others:
   * `invalidInput`, which names the field.
   */
  malformed?: Readonly<Record<string, RefusalName>>;
  /** Refusals besides those of every endpoint (input, authentication, limits, billing). Default: none. */
  refusals: readonly RefusalName[];
  /** The hourly budget of the organization that each request with valid input counts against. */
  limit?: OrganizationLimit;
  /** "by handler": the handler calls `count()`. Default: the request counts before the handler is called. */
  counted?: "by handler";
  /**
   * Who may call an endpoint of the dashboard: anyone, without a look at credentials; a user with a session;
   * or a user who is an admin. Absent on endpoints of /api/v1, which take sessions and API keys alike.
   */
  access?: Access;
  /** The endpoint also answers users of an organization whose subscription has lapsed (402 elsewhere). */
  whenLapsed?: "answers";
  /** What success does to the session cookie. */
  cookie?: "set" | "cleared";
  /** Clients may repeat the request under one `Idempotency-Key` (access/api/idempotency.ts). */
  repeatable?: true;
  /** HEAD is answered as GET, for programs that look at a url before they open it. 405 elsewhere. */
  head?: true;
  uses: readonly Use[];
  /** Default: 10. */
  timeoutSeconds?: number;
};

/** What a contract may leave out. */
const defaults = {
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: [],
} as const satisfies Partial<Endpoint>;
type Defaults = typeof defaults;

export const defineEndpoint = <const E extends Omit<Endpoint, keyof Defaults> & Partial<Endpoint>>(
  endpoint: E,
): Omit<Defaults, keyof E> & E => ({ ...defaults, ...endpoint });

/** `path` is below /api/v1 or /api/dashboard, whichever its table of routes is about. */
export type Route = { method: Method; path: string; name: string; endpoint: Endpoint };

/** The methods by which a route's function is asked. */
export const askedBy = ({ method, endpoint }: Route): Method[] => [
  method,
  ...(endpoint.head ? (["HEAD"] as const) : []),
];
