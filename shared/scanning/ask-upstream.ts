import type { Invocation } from "../aws/queue/consume.ts";
import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { breachedDomain, UpstreamFailure } from "../monitoring/hibp/hibp.ts";
import * as subscription from "../monitoring/hibp/subscription.ts";
import { withUpstream } from "../monitoring/hibp/upstream.ts";
import type { DomainAnswer } from "./domain-answer.ts";
import type { Planner } from "./fencing-token.ts";

/** Answers stay in memory until they are compared: a batch ends once it has this many breached aliases. */
const aliasesPerBatch = 300_000;

/** What a planner needs after its last request to HIBP, to compare the answers and save the batch. */
const saveSeconds = 90;

/** The longest that one request takes once the limiter has granted it (see `withUpstream`). */
const requestSeconds = 60;

/** The longest delay of a message that SQS allows. */
export const maximumDelaySeconds = 900;

/** Whether there is time for another request to HIBP and for saving its answer. */
export const hasTimeToAsk = ({ remainingSeconds }: Invocation): boolean =>
  remainingSeconds() >= saveSeconds + requestSeconds;

/** How long a request may wait for the limiter. */
export const waitSecondsOf = ({ remainingSeconds }: Invocation): number =>
  Math.max(0, remainingSeconds() - saveSeconds - requestSeconds);

/**
 * Ids of the domains that a planner claimed together. `planAt` is the time of the claim and becomes the time
 * of their check, although some of them may be answered in a later batch.
 */
export type Claim = { planAt: string; ids: Set<number> };

export const noClaim = (): Claim => ({ planAt: new Date().toISOString(), ids: new Set() });

/**
 * Claims the domains, unless `before` holds them, and asks HIBP about them, as far as time, rate limit and
 * memory allow; the other domains stay without an answer. `delaySeconds`: the rate limit allows the next
 * request after this delay.
 */
export const askUpstream = async (
  { org, scanId, invocation }: Planner,
  todo: readonly Domain[],
  before: Claim,
  batchMilliseconds: number,
): Promise<{ claimed: Claim; answers: DomainAnswer[]; delaySeconds?: number }> => {
  const answers: DomainAnswer[] = [];
  const begunAt = Date.now();
  let claimed = before;
  if (todo.length === 0) return { claimed, answers };
  const waitSeconds = () => waitSecondsOf(invocation);
  let aliases = 0;
  try {
    const { rpm } = await subscription.current({ waitSeconds: waitSeconds() });
    const covered = await subscription.covered(
      todo.map((domain) => domain.name),
      { waitSeconds: waitSeconds() },
    );
    // The order matters: claim, ask, read the e-mails. E-mails added or enabled after the claim are not part
    // of this scan.
    if (!todo.every(({ id }) => claimed.ids.has(id))) claimed = await claimAll(org, scanId, todo);
    const mine = todo.filter(({ id }) => claimed.ids.has(id));
    for (const domain of mine) if (!covered.has(domain.name)) answers.push({ domain, state: "single" });
    for (const domain of mine.filter(({ name }) => covered.has(name))) {
      const answer = await askAboutDomain(domain, rpm, waitSeconds());
      answers.push(answer);
      if (answer.state === "checked") aliases += answer.breachNames.size;
      if (aliases > aliasesPerBatch || !hasTimeToAsk(invocation)) break;
      if (Date.now() - begunAt > batchMilliseconds) break;
    }
    return { claimed, answers };
  } catch (error) {
    return { claimed, answers, delaySeconds: delayAfter(error) };
  }
};

/** The delay after which HIBP may be asked again, if the rate limit was reached. Throws every other error. */
export const delayAfter = (error: unknown): number => {
  if (!(error instanceof UpstreamFailure) || error.kind !== "rate_limited") throw error;
  return Math.min(maximumDelaySeconds, Math.ceil(error.retryAfterSeconds) + 1);
};

/** Asks HIBP for the breached aliases of a domain. "single": by this answer the domain is not covered. */
export const askAboutDomain = async (
  domain: Domain,
  rpm: number,
  waitSeconds: number,
): Promise<DomainAnswer> => {
  try {
    const breachNames = await withUpstream(rpm, () => breachedDomain(domain.name), { waitSeconds });
    return { domain, state: "checked", breachNames };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.kind === "forbidden") return { domain, state: "single" };
    if (error.kind === "bad_request" || error.kind === "unavailable") return { domain, state: "failed" };
    throw error;
  }
};

const claimAll = async (org: number, scanId: number, todo: readonly Domain[]): Promise<Claim> => {
  const planAt = new Date().toISOString();
  const claimed = await Promise.all(todo.map((domain) => claim(org, scanId, domain, planAt)));
  return { planAt, ids: new Set(todo.filter((_, index) => claimed[index]).map(({ id }) => id)) };
};

const claim = async (org: number, scanId: number, domain: Domain, planAt: string): Promise<boolean> => {
  // Not claimed: the domain is no longer verified, or its plan is saved already, by this scan or a later one.
  const { written } = await table.attempt(
    table.update(keys.domain(org, domain.id), {
      set: { plannedByScan: scanId, planAt, planState: "fetching" },
      remove: ["planBatch"],
      if: condition(
        "#verified = :verified AND (#plannedByScan < :scan OR (#plannedByScan = :scan AND #planState = :fetching))",
        { verified: true, scan: scanId, fetching: "fetching" },
      ),
    }),
  );
  return written;
};
