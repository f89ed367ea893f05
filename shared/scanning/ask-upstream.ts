import type { Invocation } from "../aws/queue/consume.ts";
import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { breachedDomain, subscriptionStatus, UpstreamFailure } from "../hibp/hibp.ts";
import { endsEverything, forDomains } from "../hibp/subscription.ts";
import { type Coverage, type NoSearch, noSearchOf } from "../hibp/subscription-state.ts";
import { withUpstream } from "../hibp/upstream.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import type { Planner } from "./lock.ts";

/** An alias (the part of an address before the @) → the names of its breaches. */
type BreachNames = Map<string, string[]>;

/**
 * What HIBP answered about a domain. "checked": `breachNames` holds the names of the breaches of each
 * alias. "single": HIBP does not search the domain, so its addresses are looked up one by one. "failed":
 * no answer.
 */
export type DomainAnswer = { domain: Domain } & (
  | { state: "checked"; breachNames: BreachNames; reason?: undefined }
  | { state: "single"; reason: NoSearch }
  | { state: "failed"; reason: UpstreamFailure["kind"] }
);

export type Checked = Extract<DomainAnswer, { state: "checked" }>;

/** Answers stay in memory until they are compared: a batch ends once it has this many breached aliases. */
export const aliasesPerBatch = 300_000;

/** What a planner needs after its last request to HIBP, to compare the answers and save the batch. */
const saveSeconds = 90;

/** The longest that one request takes once the limiter has granted it (see `withUpstream`). */
const requestSeconds = 60;

/** The longest delay of a message that SQS allows. */
export const maximumDelaySeconds = 900;

/** Whether there is time for another request to HIBP and for saving its answer. */
export const hasTimeToAsk = ({ remainingSeconds }: Invocation): boolean =>
  remainingSeconds() >= saveSeconds + requestSeconds;

/**
 * Claims domains and asks HIBP about them one by one, as far as time, rate limit and memory allow. The
 * other domains stay without an answer. `delaySeconds`: the rate limit allows the next request after
 * this delay. `isClaimed`: the scan has claimed them before.
 */
export const askUpstream = async (
  { org, scanId, invocation }: Planner,
  domains: readonly Domain[],
  batchMilliseconds: number,
  { isClaimed = false }: { isClaimed?: boolean } = {},
): Promise<{ answers: DomainAnswer[]; delaySeconds?: number }> => {
  const answers: DomainAnswer[] = [];
  if (domains.length === 0) return { answers };
  const endsAt = Date.now() + batchMilliseconds;
  /** How long a request may wait for the limiter. */
  const waiting = () => ({
    waitSeconds: Math.max(0, invocation.remainingSeconds() - saveSeconds - requestSeconds),
  });
  let aliases = 0;
  try {
    const names = domains.map(({ name }) => name);
    const { rpm, coverage } = await forDomains(names, waiting());
    for (const each of domains) {
      // The order matters: claim, ask, read the e-mails. E-mails added or enabled after the claim are not part
      // of this scan.
      const domain = isClaimed ? each : await claim(org, scanId, each.id);
      if (domain === undefined) continue;
      const reason = noSearchOf(domain.name, coverage);
      const answer: DomainAnswer =
        reason === undefined
          ? await askAboutDomain(domain, rpm, coverage, waiting())
          : { domain, state: "single", reason };
      answers.push(answer);
      if (answer.state === "single") continue;
      if (answer.state === "checked") aliases += answer.breachNames.size;
      if (aliases > aliasesPerBatch || Date.now() > endsAt || !hasTimeToAsk(invocation)) break;
    }
    return { answers };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    // The next call meets the refusal of the key again, once these are saved.
    if (error.kind !== "rate_limited" && answers.length > 0) return { answers };
    if (error.kind !== "rate_limited") throw error;
    const delaySeconds = Math.min(maximumDelaySeconds, Math.ceil(error.retryAfterSeconds) + 1);
    return { answers, delaySeconds };
  }
};

/**
 * Asks HIBP for the breached aliases of a domain. "single": the subscription does not cover the domain.
 * @throws UpstreamFailure when the rate is used up, or HIBP accepts the API key nowhere
 */
const askAboutDomain = async (
  domain: Domain,
  rpm: number,
  { listed }: Coverage,
  waiting: { waitSeconds: number },
): Promise<DomainAnswer> => {
  try {
    const breachNames = await withUpstream(rpm, () => breachedDomain(domain.name), waiting);
    return { domain, state: "checked", breachNames };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { kind } = error;
    if (kind === "bad_request") return { domain, state: "single", reason: "refused" };
    if (kind === "forbidden") {
      return { domain, state: "single", reason: listed.has(domain.name) ? "too_large" : "refused" };
    }
    if (endsEverything.includes(kind)) {
      await withUpstream(rpm, subscriptionStatus, waiting).catch((failure: unknown) => {
        if (!(failure instanceof UpstreamFailure) || endsEverything.includes(failure.kind)) throw failure;
      });
      return { domain, state: "single", reason: "no_domain_search" };
    }
    if (kind === "rate_limited") throw error;
    return { domain, state: "failed", reason: kind };
  }
};

/**
 * Claims a domain for the scan and returns it with `planAt`, the time of its check. Undefined when it is no longer
 * verified, or planned already, by this scan or a later one.
 */
const claim = async (org: number, scanId: number, id: number): Promise<Domain | undefined> => {
  const claimed = await table.attempt(
    table.update<Domain>(keys.domain(org, id), {
      set: { plannedByScan: scanId, planAt: new Date().toISOString(), planState: "fetching" },
      remove: ["planBatch", "planReason", "unwatchedOfScan"],
      if: condition(
        "#verified = :verified AND (#plannedByScan < :scan OR (#plannedByScan = :scan AND #planState = :fetching))",
        { verified: true, scan: scanId, fetching: "fetching" },
      ),
    }),
  );
  return claimed.written ? claimed.value : undefined;
};
