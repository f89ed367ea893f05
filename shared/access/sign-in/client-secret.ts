/** How this service proves to the identity provider who it is. */
import { SSMProvider } from "@aws-lambda-powertools/parameters/ssm";
import * as oauth from "oauth4webapi";
import { shortTimeouts } from "../../aws/timeouts.ts";
import { ProviderFailure, wordOf } from "./provider-failure.ts";

const clientSecretSeconds = 300;

/**
 * The usual way to send the client's secret, and another one. It is in the body where the provider takes it:
 * some read the header as it stands, and not as RFC 6749 (2.3.1) asks. The other way is for providers that
 * advertise both, but take from each client only its configured one.
 */
export const authenticationsFor = async ({
  token_endpoint_auth_methods_supported: methods,
}: oauth.AuthorizationServer): Promise<readonly [usual: oauth.ClientAuth, other: oauth.ClientAuth]> => {
  const secret = await clientSecret();
  const [inBody, inHeader] = [oauth.ClientSecretPost(secret), basic(secret)];
  return methods?.includes("client_secret_post") ? [inBody, inHeader] : [inHeader, inBody];
};

/** Whether the provider did not take the secret. It tells that a code is bad only once it knows the client. */
export const isClientRefused = (error: unknown): boolean =>
  error instanceof oauth.WWWAuthenticateChallengeError ||
  (error instanceof oauth.ResponseBodyError && error.error !== "invalid_grant");

/** The library encodes "-", "." and "_" too. As they are, also a provider that does not decode takes most secrets. */
const basic =
  (secret: string): oauth.ClientAuth =>
  (_, { client_id: id }, __, headers) => {
    const [user, password] = [id, secret].map((text) => new URLSearchParams({ text }).toString().slice(5));
    headers.set("authorization", `Basic ${btoa(`${user}:${password}`)}`);
  };

let parameters: SSMProvider | undefined;

const clientSecret = async (): Promise<string> => {
  parameters ??= new SSMProvider({ clientConfig: { maxAttempts: 3, requestHandler: shortTimeouts } });
  const name = process.env.OIDC_CLIENT_SECRET_PARAMETER ?? "";
  const stored = await parameters
    .get(name, { maxAge: clientSecretSeconds, decrypt: true })
    .catch((error: Error) => {
      throw new ProviderFailure("providerMalformed", wordOf((error.cause as Error)?.name));
    });
  const secret = String(stored ?? "").trim();
  if (secret === "") throw new ProviderFailure("providerMalformed", "none");
  return secret;
};
