import { admin } from "./admin.ts";
import { type Client, createClient } from "./client.ts";

let users = 0;

/** Creates a user with a session in an organization of a test's own service, whose /api/v1 is `apiUrl`. */
export const signedInTo = async (
  apiUrl: string,
  org: number,
): Promise<{ dashboard: Client; v1: Client; email: string }> => {
  const email = `own-user-${++users}@demo.example`;
  const { id } = await admin("user create", { org, email }, apiUrl);
  const { cookie } = await admin("session create", { org, user: id }, apiUrl);
  const headers = { cookie: cookie as string, origin: new URL(apiUrl).origin };
  return {
    dashboard: createClient(headers, new URL("/api/dashboard", apiUrl).href),
    v1: createClient(headers, apiUrl),
    email,
  };
};
