/**
 * Passkeys, as far as the browser has them (WebAuthn Level 3). Password managers answer in place of browsers,
 * with objects whose methods fail: so bytes are read and written here, and no method of a credential is
 * called.
 */
import { Failure } from "../../api/failure.ts";
import type { Input } from "../../api/routes.ts";

/** Passkeys belong to the name of a host: a page at an IP address, such as that of a local run, has none. */
export const isAtName = (): boolean => !/^[\d.]+$|^\[/.test(location.hostname);

export const hasPasskeys = (): boolean =>
  isAtName() && "PublicKeyCredential" in globalThis && "credentials" in navigator;

export type NewPasskey = Input<"POST /dashboard/passkeys">["body"]["answer"];
export type PasskeyAnswer = Input<"POST /dashboard/sign-in/passkeys/sessions">["body"]["answer"];

/** Makes one, by the options of the service. @throws Failure */
export async function createPasskey(given: unknown): Promise<NewPasskey> {
  const options = given as PublicKeyCredentialCreationOptionsJSON;
  const publicKey: unknown = {
    ...options,
    challenge: decode(options.challenge),
    user: { ...options.user, id: decode(options.user.id) },
    excludeCredentials: options.excludeCredentials?.map((each) => ({ ...each, id: decode(each.id) })),
  };
  return ask(
    () => navigator.credentials.create({ publicKey } as CredentialCreationOptions),
    (response: AuthenticatorAttestationResponse) => ({
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
    }),
  );
}

/** Options are good for five minutes. People have half of them to answer. */
export const freshMilliseconds = 2.5 * 60_000;

let question = new AbortController();

/** Ends the question before, since browsers have one at a time. The signal is of the next one. */
export function nextQuestion(): AbortSignal {
  question.abort();
  question = new AbortController();
  return question.signal;
}

/**
 * Has one answer the options of the service: at once, or with `mediation` among the suggestions of a field
 * with the autocompletion "webauthn", until somebody chooses it there. @throws Failure
 */
export async function askPasskey(
  given: unknown,
  signal: AbortSignal,
  mediation?: "conditional",
): Promise<PasskeyAnswer> {
  const options = given as PublicKeyCredentialRequestOptionsJSON;
  const publicKey: unknown = { ...options, challenge: decode(options.challenge) };
  return ask(
    () =>
      navigator.credentials.get({
        publicKey,
        signal,
        ...(mediation && { mediation }),
      } as CredentialRequestOptions),
    (response: AuthenticatorAssertionResponse) => ({
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
      // Some leave it out, though it is how a passkey says whose it is.
      ...(response.userHandle && { userHandle: encode(response.userHandle) }),
    }),
  );
}

export const canSuggest = async (): Promise<boolean> =>
  hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;

async function ask<Response, Read>(
  request: () => Promise<Credential | null>,
  read: (response: Response) => Read,
) {
  let credential: PublicKeyCredential & { response: Response };
  try {
    credential = (await request()) as typeof credential;
  } catch (error) {
    throw notGiven(error);
  }
  const id = encode(credential.rawId);
  return { id, rawId: id, type: "public-key" as const, response: read(credential.response) };
}

/** Browsers tell a page little of why they give nothing. */
const notGiven = (error: unknown): Failure =>
  new Failure(
    (error as Error).name === "InvalidStateError"
      ? "This device already has a passkey of yours."
      : "The browser gave no passkey: it has none for this service, or the request was cancelled or took too long.",
    { status: -1 },
  );

/** Bytes in base64url, as WebAuthn's JSON forms have them. What is missing is empty, which the service refuses. */
function encode(source: BufferSource): string {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const decode = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
