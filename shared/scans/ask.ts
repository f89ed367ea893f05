import { breachedDomain, UpstreamFailure } from "../catalog/hibp.ts";
import * as subscription from "../catalog/subscription.ts";
import { withUpstream } from "../catalog/upstream.ts";
import type { Domain } from "../organizations/domain.ts";
import type { Invocation } from "../queue/consume.ts";
import { condition } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Answered } from "./answer.ts";
import type { Scanned } from "./turn.ts";

/** Answers held in memory at a time, in breached aliases. */
const aliasesPerBatch = 300_000;

/** What a plan needs after its last question upstream, to compare and save. */
const reserveSeconds = 90;

/** The longest a single call upstream can take after its turn has come. */
const callSeconds = 60;

/** The longest delay of a message. */
const maximumDelaySeconds = 900;

/** Whether there is time for another question, and for what comes after the last one. */
export const hasTimeToAsk = ({ remainingSeconds }: Invocation): boolean =>
  remainingSeconds() >= reserveSeconds + callSeconds;

/** How long a question's turn can be waited for. */
export const waitSecondsOf = ({ remainingSeconds }: Invocation): number =>
  Math.max(0, remainingSeconds() - reserveSeconds - callSeconds);

/** Domains that are claimed together, and when: their one check's time. Some may be answered later than others. */
export type Claim = { planAt: string; ids: Set<number> };

export const noClaim = (): Claim => ({ planAt: new Date().toISOString(), ids: new Set() });

/** Asks upstream about domains, as far as time, rate and memory allow. */
export const ask = async (
  { org, scanId, invocation }: Scanned,
  todo: readonly Domain[],
  before: Claim,
  batchMilliseconds: number,
): Promise<{ claimed: Claim; answered: Answered[]; delaySeconds?: number }> => {
  const answered: Answered[] = [];
  const begunAt = Date.now();
  let claimed = before;
  if (todo.length === 0) return { claimed, answered };
  const waitSeconds = () => waitSecondsOf(invocation);
  let aliases = 0;
  try {
    const { rpm } = await subscription.current({ waitSeconds: waitSeconds() });
    const covered = await subscription.covered(
      todo.map((domain) => domain.name),
      { waitSeconds: waitSeconds() },
    );
    // From here on, e-mails that are added or enabled are not of this scan. Then ask; then read the e-mails.
    if (!todo.every(({ id }) => claimed.ids.has(id))) claimed = await claimAll(org, scanId, todo);
    const mine = todo.filter(({ id }) => claimed.ids.has(id));
    for (const domain of mine) if (!covered.has(domain.name)) answered.push({ domain, state: "single" });
    for (const domain of mine.filter(({ name }) => covered.has(name))) {
      const answer = await askDomain(domain, rpm, waitSeconds());
      answered.push(answer);
      if (answer.state === "checked") aliases += answer.names.size;
      if (aliases > aliasesPerBatch || !hasTimeToAsk(invocation)) break;
      if (Date.now() - begunAt > batchMilliseconds) break;
    }
    return { claimed, answered };
  } catch (error) {
    return { claimed, answered, delaySeconds: delayAfter(error) };
  }
};

/** After how long to ask again when it was too often; throws what else went wrong. */
export const delayAfter = (error: unknown): number => {
  if (!(error instanceof UpstreamFailure) || error.kind !== "rate_limited") throw error;
  return Math.min(maximumDelaySeconds, Math.ceil(error.retryAfterSeconds) + 1);
};

/** A domain that the subscription does not cover after all is looked up one by one. */
export const askDomain = async (domain: Domain, rpm: number, waitSeconds: number): Promise<Answered> => {
  try {
    const names = await withUpstream(rpm, () => breachedDomain(domain.name), { waitSeconds });
    return { domain, state: "checked", names };
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
  try {
    await table.update(keys.domain(org, domain.id), {
      set: { planBy: scanId, planAt, planState: "fetching" },
      remove: ["planBatch"],
      if: condition(
        "#verified = :verified AND (#planBy < :scan OR (#planBy = :scan AND #planState = :fetching))",
        { verified: true, scan: scanId, fetching: "fetching" },
      ),
    });
    return true;
  } catch (error) {
    if (error instanceof table.ConditionFailed) return false;
    throw error;
  }
};
