/** Calls to HIBP under the deployment's one limiter. */
import { setTimeout as sleep } from "node:timers/promises";
import { breachedAccount, UpstreamFailure } from "./hibp.ts";
import * as limiter from "./limiter.ts";

/** Tries of a call that HIBP did not answer. */
const maxTries = 3;
const maxConcurrentLookUps = 8;

/**
 * Waits for its turn, makes the call and returns its answer. A 429 pauses the whole key; then, and after a failure that
 * may pass, it tries again while there is time.
 *
 * @param waitSeconds How long to wait for turns, all tries together. The call's own time comes on top of it.
 * @throws UpstreamFailure; `rate_limited` with `retryAfterSeconds` when the turn would come too late.
 */
export const withUpstream = async <T>(
  rpm: number,
  call: () => Promise<T>,
  { waitSeconds }: { waitSeconds: number },
): Promise<T> => {
  const deadline = Date.now() + waitSeconds * 1_000;
  const waitFor = async (seconds: number): Promise<void> => {
    if (Date.now() + seconds * 1_000 > deadline) {
      throw new UpstreamFailure("rate_limited", "HIBP's rate limit leaves no room in time", seconds);
    }
    // Not all who wait may come at once.
    await sleep(seconds * 1_000 + Math.random() * 500);
  };
  for (let attempt = 1; ; ) {
    const grant = await limiter.reserve(1, rpm);
    if ("waitSeconds" in grant) {
      await waitFor(grant.waitSeconds);
      continue;
    }
    if (Date.now() >= grant.validUntil.getTime()) continue;
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.kind === "rate_limited") await limiter.pause(error.retryAfterSeconds);
      else if (error.kind !== "unavailable" || attempt >= maxTries || Date.now() > deadline) throw error;
      else await sleep(1_000 * attempt++);
    }
  }
};

/**
 * Looks addresses up singly, as many as the rate allows at this moment (ask for about 25 at a time).
 *
 * `answers` are those of the first addresses, in order: breach names, or the failure of this one address. When there
 * are fewer answers than addresses, the rest were not asked: come back after `waitSeconds`.
 *
 * @throws UpstreamFailure `unauthorized`: no address can be looked up.
 */
export const lookUpAccounts = async (
  addresses: readonly string[],
  rpm: number,
): Promise<{ answers: (string[] | UpstreamFailure)[]; waitSeconds: number }> => {
  throw new Error(`not yet ${addresses} ${rpm} ${breachedAccount} ${maxConcurrentLookUps}`);
};
