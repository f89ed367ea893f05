/** Passkeys, as far as the browser has them (WebAuthn Level 3). */
import { Failure } from "./api/failure.ts";

/** Passkeys belong to the name of a host: a page at an IP address, such as that of a local run, has none. */
export const isAtName = (): boolean => !/^[\d.]+$|^\[/.test(location.hostname);

export const hasPasskeys = (): boolean =>
  isAtName() && "PublicKeyCredential" in globalThis && "parseCreationOptionsFromJSON" in PublicKeyCredential;

/** Makes one, by the options of the service. @throws Failure */
export const createPasskey = (options: unknown) =>
  ask<RegistrationResponseJSON>(() =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        options as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  );

let question = new AbortController();

/** Ends the question before, since browsers have one at a time. The signal is of the next one. */
export function nextQuestion(): AbortSignal {
  question.abort();
  question = new AbortController();
  return question.signal;
}

/**
 * Has one answer the options of the service: at once, or with `mediation` among the suggestions of a field with the autocompletion
 * "webauthn", until somebody chooses it there. @throws Failure
 */
export const askPasskey = (options: unknown, signal: AbortSignal, mediation?: "conditional") =>
  ask<AuthenticationResponseJSON & { response: { userHandle: string } }>(() =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
        options as PublicKeyCredentialRequestOptionsJSON,
      ),
      signal,
      ...(mediation && { mediation }),
    }),
  );

export const canSuggest = async (): Promise<boolean> =>
  hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());

/** Browsers tell a page little of why they give nothing. */
async function ask<Answer>(request: () => Promise<Credential | null>) {
  try {
    const credential = (await request()) as PublicKeyCredential;
    return credential.toJSON() as unknown as Answer & { type: "public-key" };
  } catch (error) {
    const isThere = error instanceof DOMException && error.name === "InvalidStateError";
    throw new Failure(
      isThere
        ? "This device already has a passkey of yours."
        : "The browser gave no passkey: it has none for this service, or the request was cancelled or took too long.",
      { status: -1 },
    );
  }
}
