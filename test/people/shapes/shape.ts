/** The form of what clients of SCIM send, as data of shapes.test.ts. */

// biome-ignore lint/suspicious/noExplicitAny: what clients send need not be right
export type Json = any;

/**
 * A request, and what the service answers. In `path`, `body` and expectations `{name}` stands for the id that
 * a request with `as: "name"` got, and `{base}` for the url of SCIM.
 */
export type Sent = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the url of SCIM, encoded as the client encodes it. */
  path: string;
  body?: Json;
  /** In place of `body`, as it is. */
  raw?: string;
  /** Instead of those of most clients: the token, and application/scim+json. */
  headers?: Record<string, string>;
  as?: string;
  /** Without it: 200, 201 for POST, 204 for DELETE, and for PATCH 200 or 204. */
  status?: number;
  scimType?: string;
  /** The reply has at least these. `undefined` is what must not be there. */
  reply?: Json;
  /** What a GET of a path gives afterwards, at least. */
  after?: Record<string, Json>;
};

/** What a client sends in one go, to a directory where nobody is. */
export type Shape = {
  client: string;
  title: string;
  /** The document or the issue that says so. */
  source: string;
  requests: Sent[];
};

export const core = "urn:ietf:params:scim:schemas:core:2.0:User";
export const coreGroup = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
export const own = "urn:breach-monitor:scim:2.0:User";

/** The body of a PATCH. */
export const patch = (...operations: Json[]): Json => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations: operations,
});

/** Creates a user by a request that no client is known for, so that a shape can begin with one. */
export const given = (as: string, attributes: Json = {}): Sent => ({
  method: "POST",
  path: "/Users",
  body: { schemas: [core], userName: `${as}@demo.example`, ...attributes },
  as,
});

export const givenGroup = (as: string, attributes: Json = {}): Sent => ({
  method: "POST",
  path: "/Groups",
  body: { schemas: [coreGroup], displayName: as, ...attributes },
  as,
});
