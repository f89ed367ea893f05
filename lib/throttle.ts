/**
 * How many requests a second API Gateway lets through to one method, and how many at once: for all clients together.
 */
import { fairShare, perMinute } from "../shared/contract/limits.ts";

export type Throttle = { ratePerSecond: number; burst: number };

/** API Gateway's own limit for all APIs of an account and region. */
const maximumBurst = 5_000;

/** By what a method does. `requestsPerSecond`: of the options. */
export const throttlesOf = (requestsPerSecond: number) => {
  // A burst adds nothing to what a day's flood costs.
  const burst = Math.min(maximumBurst, Math.max(fairShare * perMinute.key, 2 * requestsPerSecond));
  return {
    v1: { ratePerSecond: requestsPerSecond, burst },
    dashboard: { ratePerSecond: requestsPerSecond / 2, burst },
    // Entra asks for 25 requests a second of a directory.
    scim: { ratePerSecond: Math.max(25, requestsPerSecond / 2), burst },
    // Browsers keep the page's files, and a request for the largest costs as much as 25 that the authorizer
    // refuses. But a first visit asks for thirty files, and after a deployment the visits of all people are
    // first ones.
    page: { ratePerSecond: requestsPerSecond / 4, burst: Math.min(maximumBurst, 4 * burst) },
    // Methods that only answer 404 or 405: every path has one.
    refusal: { ratePerSecond: requestsPerSecond / 45, burst },
  } as const satisfies Record<string, Throttle>;
};

/** The least `requestsPerSecond` at which one key takes no more than its share of an endpoint. */
export const leastRequestsPerSecond = Math.ceil((fairShare * perMinute.key) / 60);
