import { inject } from "vitest";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";

/** The base url of the dashboard's part of the API. */
export const dashboardUrl = (apiUrl = inject("apiUrl")): string => new URL("/api/dashboard", apiUrl).href;

/** A client of the dashboard without credentials. */
export const visitor = (headers: Record<string, string> = {}): Client =>
  createClient(headers, dashboardUrl());

/** Clients that send this cookie and the service's own Origin, as a browser does. */
export const browserWith = (cookie: string, apiUrl = inject("apiUrl")): { dashboard: Client; v1: Client } => {
  const headers = { cookie, origin: new URL(apiUrl).origin };
  return { dashboard: createClient(headers, dashboardUrl(apiUrl)), v1: createClient(headers, apiUrl) };
};

export type SignedIn = {
  dashboard: Client;
  v1: Client;
  cookie: string;
  userId: number;
  email: string;
  sessionId: number;
};

/** Another session of a user. */
export const createSession = async (
  org: number,
  user: { id: number; email: string },
  apiUrl?: string,
): Promise<SignedIn> => {
  const session = await admin("session create", { org, user: user.id }, apiUrl);
  const cookie = session.cookie as string;
  return {
    ...browserWith(cookie, apiUrl),
    cookie,
    userId: user.id,
    email: user.email,
    sessionId: session.id,
  };
};

let users = 0;
type NewUser = { role?: string; email?: string; name?: string; apiUrl?: string };

/** Creates a user with a session. Without `email` no test file has another user of the address. */
export const signedIn = async (
  org: number,
  { role = "admin", email = `user-${org}-${++users}@demo.example`, name, apiUrl }: NewUser = {},
): Promise<SignedIn> => {
  const { id } = await admin("user create", { org, email, role, ...(name && { name }) }, apiUrl);
  return createSession(org, { id, email }, apiUrl);
};

export const createToken = async (org: number, user: number): Promise<string> => {
  const { url } = await admin("user sign-in-link", { org, user });
  return new URL(url as string).hash.slice(1);
};
