/** Calls to HIBP, each with a grant of the deployment's rate limiter. */
import { setTimeout as sleep } from "node:timers/promises";
import { breachedAccount, UpstreamFailure, type UpstreamFailureKind } from "./hibp.ts";
import * as limiter from "./limiter.ts";

/** How often a call is made that HIBP does not answer, or answers with a 429. */
const maxTries = 3;
const maxConcurrentLookUps = 8;

/**
 * Waits for a grant, makes the call and returns its answer. A 429 pauses the key for the whole deployment.
 * After a 429, or when HIBP does not answer, the call is made again while there is time.
 *
 * @param waitSeconds No try starts later than this from now. The last try (at most 60 s) may end later.
 * @throws UpstreamFailure; `rate_limited` with `retryAfterSeconds` when the grant would come too late.
 */
export const withUpstream = async <T>(
  rpm: number,
  call: () => Promise<T>,
  { waitSeconds }: { waitSeconds: number },
): Promise<T> => {
  const deadline = Date.now() + waitSeconds * 1_000;
  const waitFor = async (seconds: number): Promise<void> => {
    if (Date.now() + seconds * 1_000 > deadline) {
      throw new UpstreamFailure("rate_limited", "Our share of HIBP's rate is used up for now", seconds);
    }
    // Random, so that not all that wait come back at the same moment.
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
      else if (error.kind !== "unavailable" || Date.now() > deadline) throw error;
      if (attempt >= maxTries) throw error;
      if (error.kind === "unavailable") await sleep(1_000 * attempt);
      attempt++;
    }
  }
};

/** The names of the breaches of an address, or why there is no answer. */
export type LookUp = string[] | UpstreamFailure;

/** Failures that are about the key or the service, so that the next address would fail in the same way. */
const refusals: readonly UpstreamFailureKind[] = ["unauthorized", "no_subscription", "forbidden", "blocked"];

/**
 * Looks addresses up one by one, as many as the rate allows at this moment (pass about 25). Takes a few
 * seconds, at most about 25. An address for which HIBP does not answer is looked up a second time.
 *
 * `answers` belong to the first addresses, in their order. When there are fewer answers than addresses, call
 * again with the other addresses after `waitSeconds`, unless there is a `refusal`: then HIBP refuses them all.
 */
export const lookUpAccounts = async (
  addresses: readonly string[],
  rpm: number,
): Promise<{ answers: LookUp[]; waitSeconds: number; refusal?: UpstreamFailure }> => {
  if (addresses.length === 0) return { answers: [], waitSeconds: 0 };
  const grant = await limiter.reserve(addresses.length, rpm, { bulk: true });
  if ("waitSeconds" in grant) return { answers: [], waitSeconds: grant.waitSeconds };

  const results = addresses.slice(0, grant.granted).map(() => undefined as LookUp | undefined);
  let halt: UpstreamFailure | undefined;
  let next = 0;
  const lookUpNext = async (): Promise<void> => {
    while (halt === undefined && next < results.length && Date.now() < grant.validUntil.getTime()) {
      const index = next++;
      const result = await lookUp(addresses[index] as string, rpm);
      if (!(result instanceof UpstreamFailure)) results[index] = result;
      else if (refusals.includes(result.kind)) halt = result;
      else if (result.kind === "rate_limited") {
        halt = result;
        await limiter.pause(result.retryAfterSeconds);
      } else results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentLookUps }, lookUpNext));

  const end = results.indexOf(undefined);
  const answers = (end === -1 ? results : results.slice(0, end)) as LookUp[];
  if (halt !== undefined && halt.kind !== "rate_limited") return { answers, waitSeconds: 0, refusal: halt };
  return { answers, waitSeconds: halt === undefined ? 1 : halt.retryAfterSeconds + 1 };
};

/** Looks one address up, and a second time with a grant of its own when HIBP does not answer. */
const lookUp = async (address: string, rpm: number): Promise<LookUp> => {
  const first = await attemptLookUp(address);
  if (!(first instanceof UpstreamFailure && first.kind === "unavailable")) return first;
  await sleep(500 + Math.random() * 1_000);
  const grant = await limiter.reserve(1, rpm, { bulk: true });
  return "waitSeconds" in grant || Date.now() >= grant.validUntil.getTime() ? first : attemptLookUp(address);
};

const attemptLookUp = async (address: string): Promise<LookUp> => {
  try {
    return await breachedAccount(address);
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
};
