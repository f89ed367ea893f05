/** The WebAuthn options that a browser makes a passkey by, or asks one. */
import { generateAuthenticationOptions, generateRegistrationOptions } from "@simplewebauthn/server";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as links from "./link.ts";

export const maximumPasskeys = 10;
/** People may have to look for their key or telephone. */
const challengeSeconds = 5 * 60;
/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812): what authenticators have, with keys that a row has room for. */
export const supportedAlgorithmIDs = [-8, -7, -257];

/** To add a passkey in the session with this hash. Refuses `providerRequired` and `passkeyLimitReached`. */
export const toAdd = async (org: number, userId: number, session: string, origin: string) => {
  const { user, organization } = await membershipOf(org, userId);
  if (links.needsVoucher({ user, organization })) throw new Refusal("providerRequired");
  const ids = Object.keys(user.passkeys ?? {});
  // Before the device makes one that could not be stored.
  if (ids.length >= maximumPasskeys) throw new Refusal("passkeyLimitReached");
  const options = await generateRegistrationOptions({
    rpName: "Breach Monitor",
    rpID: rpIdOf(origin),
    // Browsers list passkeys by this name, and one address may be a user of several organizations.
    userName: `${user.email} (${organization.name})`,
    userID: new TextEncoder().encode(`${org}.${userId}`),
    timeout: challengeSeconds * 1_000,
    attestationType: "none",
    excludeCredentials: ids.map((id) => ({ id })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs,
  });
  return handOut(options, session);
};

/** To sign in, the same for everybody. */
export const toSignIn = async (origin: string) =>
  handOut(
    await generateAuthenticationOptions({
      rpID: rpIdOf(origin),
      timeout: challengeSeconds * 1_000,
      userVerification: "required",
    }),
  );

/** The user and the organization, neither of them removed. Refuses `passkeyUnknown`. */
export const membershipOf = async (org: number, userId: number): Promise<links.Membership> => {
  const [membership] = await links.membershipsNamed([{ organizationId: org, userId }]);
  if (membership === undefined) throw new Refusal("passkeyUnknown");
  return membership;
};

/** WebAuthn's RP ID: passkeys belong to the host of the page that made them. */
export const rpIdOf = (origin: string): string => new URL(origin).hostname;

/** Keeps the challenge of the options, for one answer: in the session with this hash, or without one to sign in. */
const handOut = async <Options extends { challenge: string }>(
  options: Options,
  session?: string,
): Promise<Record<string, unknown>> => {
  await table.put({
    ...keys.passkeyChallenge(options.challenge),
    ...(session !== undefined && { session }),
    [timeToLive]: Math.floor(Date.now() / 1000) + challengeSeconds,
  });
  return { ...options };
};
