/**
 * Passkeys: a user adds them in a session, and later signs in by them without giving a name. The library does
 * the checks of WebAuthn Level 3 (7.1, 7.2); this file keeps the passkeys. passkey-options.ts makes the
 * options for browsers.
 */
import { Logger } from "@aws-lambda-powertools/logger";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { allOf, asRead, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import * as limits from "../api/limits.ts";
import { notRemoved } from "../members/membership.ts";
import * as users from "../members/user.ts";
import { newNotices } from "../notices/notice.ts";
import type { Visit } from "../sessions/browser.ts";
import * as links from "./link.ts";
import { maximumPasskeys, membershipOf, rpIdOf, supportedAlgorithmIDs } from "./passkey-options.ts";
import type { NewPasskey, PasskeyAnswer } from "./passkey-schema.ts";

/** Rows of passkeys are found by their user alone. */
const unnamed = "This passkey does not say whose it is: sign in another way, and add another passkey";

const logger = new Logger();

/**
 * Adds the passkey that the browser has made, gives it as it is listed, and tells the user by e-mail. Refuses
 * `passkeyRefused`, `attemptUnknown` and `passkeyLimitReached`.
 */
export const add = async (
  org: number,
  actor: Extract<Actor, { type: "user" }>,
  answer: NewPasskey,
  { session, origin, browser }: { session: string; origin: string; browser: string | undefined },
): Promise<ReturnType<typeof users.shownPasskey>> => {
  const { verified, challenge } = await verify(origin, async (expected) => {
    const response = { ...answer, clientExtensionResults: {} };
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      ...expected,
      supportedAlgorithmIDs,
    });
    return registrationInfo?.credential;
  });
  const passkey: users.Passkey = {
    publicKey: Buffer.from(verified.publicKey).toString("base64url"),
    counter: verified.counter,
    createdAt: new Date().toISOString(),
    ...(browser !== undefined && { browser }),
  };
  const { id: userId } = actor;
  await limits.countPasskey(org, userId);
  const notices = await withOptimisticRetry(async () => {
    const { user } = await membershipOf(org, userId);
    const { passkeys } = user;
    const all = { ...passkeys, [verified.id]: passkey };
    if (Object.keys(all).length > maximumPasskeys) throw new Refusal("passkeyLimitReached");
    const notices = newNotices(org, [user]);
    const slot = await activity.slot(org);
    const { createdAt } = passkey;
    await table.transact([
      {
        update: keys.user(org, userId),
        set: { passkeys: all },
        if: allOf(notRemoved, asRead({ passkeys })),
      },
      use(challenge, session),
      ...notices.writes({
        about: "passkey",
        change: "added",
        createdAt,
        ...(browser !== undefined && { browser }),
      }),
      ...activity.writes(org, slot, {
        action: "passkey.added",
        summary: `Added a passkey${browser === undefined ? "" : ` in ${browser}`}`,
        actor,
      }),
    ]);
    return notices;
  });
  await notices.send();
  return users.shownPasskey(verified.id, passkey);
};

/**
 * Signs in by a passkey's answer. Refuses `passkeyUnknown`, `passkeyRefused`, `attemptUnknown` and `providerRequired`.
 */
export const signIn = async (
  answer: PasskeyAnswer,
  origin: string,
  visit: Visit,
): Promise<links.SignedIn> => {
  const { id, response } = answer;
  const { userHandle = "" } = response;
  if (userHandle === "") throw new Refusal("passkeyUnknown", { error: unnamed });
  const handle = Buffer.from(userHandle, "base64url").toString();
  const [, org, userId] = /^(\d{1,16})\.(\d{1,16})$/.exec(handle) ?? [];
  const membership = await membershipOf(Number(org), Number(userId));
  const passkey = membership.user.passkeys?.[id];
  if (passkey === undefined) throw new Refusal("passkeyUnknown");
  const { verified, challenge } = await verify(origin, async (expected) => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, response: { ...response, userHandle }, clientExtensionResults: {} },
      credential: { id, publicKey: Buffer.from(passkey.publicKey, "base64url"), counter: passkey.counter },
      ...expected,
    });
    return verified ? authenticationInfo : undefined;
  });
  if (links.needsVoucher(membership)) throw new Refusal("providerRequired");
  const path = `passkeys.${id}`;
  const signedIn = await links.enter(membership, [use(challenge)], {
    ...visit,
    way: "passkey",
    change: {
      set: { [`${path}.counter`]: verified.newCounter, [`${path}.lastUsedAt`]: new Date().toISOString() },
      if: asRead({ [`${path}.counter`]: passkey.counter }),
    },
  });
  // Just removed, or used by somebody who has a copy of it.
  if (signedIn === undefined) throw new Refusal("passkeyUnknown");
  return signedIn;
};

/** Uses the challenge up. */
const use = (challenge: string, session?: string): Write => ({
  delete: keys.passkeyChallenge(challenge),
  if: allOf(links.unexpired(), asRead({ session })),
  refusal: "attemptUnknown",
});

type Expected = Pick<
  Parameters<typeof verifyRegistrationResponse>[0],
  "expectedOrigin" | "expectedRPID" | "expectedChallenge" | "requireUserVerification"
> & { expectedRPID: string };

/**
 * What the library has verified, and the challenge that was signed. Refuses `passkeyRefused` where it throws
 * or verifies nothing.
 */
const verify = async <Verified>(
  origin: string,
  check: (expected: Expected) => Promise<Verified | undefined>,
): Promise<{ verified: Verified; challenge: string }> => {
  let challenge = "";
  const expectedChallenge = (signed: string): boolean => {
    challenge = signed;
    return /^[\w-]{43}$/.test(signed);
  };
  const verified = await check({
    expectedOrigin: origin,
    expectedRPID: rpIdOf(origin),
    expectedChallenge,
    requireUserVerification: true,
  }).catch((error: Error) => {
    // What follows is what the browser has sent.
    logger.warn("passkey refused", { reason: error.message.split('"', 1)[0] });
  });
  if (verified === undefined) throw new Refusal("passkeyRefused");
  return { verified, challenge };
};
