import { inject } from "vitest";
import { createPasskey, type TestPasskey } from "../access/sign-in/authenticator.ts";
import type { Client, Reply } from "../service/client.ts";
import { visitor } from "./signed-in.ts";

export const ownOrigin = (): string => new URL(inject("apiUrl")).origin;

/** The options for a passkey to add. */
export const beginPasskey = async (dashboard: Client) => {
  const { body } = await dashboard.post("/passkeys/options");
  return body.options as { challenge: string; rp: { id: string }; user: { id: string; name: string } };
};

export const addPasskey = async (
  dashboard: Client,
  passkey: TestPasskey = createPasskey(ownOrigin()),
): Promise<TestPasskey> => {
  const answer = passkey.register(await beginPasskey(dashboard));
  const { status, body } = await dashboard.post("/passkeys", { answer });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return passkey;
};

/** The options for a sign-in. */
export const beginSignIn = async (): Promise<{ challenge: string; rpId: string }> =>
  (await visitor().post("/sign-in/passkeys/options")).body.options as { challenge: string; rpId: string };

export const redeemPasskey = async (answer: object, headers: Record<string, string> = {}): Promise<Reply> =>
  visitor(headers).post("/sign-in/passkeys/sessions", { answer });
