import { inject } from "vitest";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";
import type { Organization } from "../service/organization.ts";

export type SignedIn = { api: Client; cookie: string; userId: number; sessionId: number; email: string };

/**
 * Creates a user with a session. `api` sends the session cookie and the service's own Origin, as a browser
 * does.
 */
export const signIn = async ({ id: org }: Organization): Promise<SignedIn> => {
  const email = "user@demo.example";
  const user = await admin("user create", { org, email });
  const session = await admin("session create", { org, user: user.id });
  const cookie = session.cookie as string;
  const api = createClient({ cookie, origin: new URL(inject("apiUrl")).origin });
  return { api, cookie, userId: user.id, sessionId: session.id, email };
};
