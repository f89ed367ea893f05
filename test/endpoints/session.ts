import { inject } from "vitest";
import { admin, type Client, createClient, type Organization } from "../service/client.ts";

export type SignedIn = { api: Client; cookie: string; userId: number; sessionId: number; email: string };

/** A user of an organization and a client with its session cookie that sends the service's own origin, as a browser does. */
export const signIn = async ({ id: org }: Organization): Promise<SignedIn> => {
  const email = "user@demo.example";
  const user = await admin("user create", { org, email });
  const session = await admin("session create", { org, user: user.id });
  const cookie = session.cookie as string;
  const api = createClient({ cookie, origin: new URL(inject("apiUrl")).origin });
  return { api, cookie, userId: user.id, sessionId: session.id, email };
};
