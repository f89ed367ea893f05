import { expect, inject } from "vitest";
import { type Client, createClient, type Reply } from "../service/client.ts";
import { expectRefusal } from "./reply.ts";

/** A client without credentials. */
export const anonymous = (): Client => createClient({});

/** The origin of the service's own pages. */
export const origin = (): string => new URL(inject("apiUrl")).origin;

/** GET /emails with exactly these headers. */
export const getWith = (headers: Record<string, string | string[]>): Promise<Reply> =>
  anonymous().request("GET", "/emails", { headers });

/** Asserts 401 with WWW-Authenticate: Bearer. */
export const expectUnauthenticated = (reply: Reply): void => {
  expectRefusal(reply, 401, /API key or session/);
  expect(reply.headers["www-authenticate"]).toBe("Bearer");
};
