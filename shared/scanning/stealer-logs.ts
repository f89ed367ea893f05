/** The websites whose logins malware took from an address, for the new findings of stealer logs. */

import * as breachDetails from "../hibp/breach-details.ts";
import { stealerLogs, UpstreamFailure } from "../hibp/hibp.ts";
import { cautiousRpm, storedSubscription } from "../hibp/subscription-state.ts";
import { withUpstream } from "../hibp/upstream.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import type { EmailChange } from "./compare-email.ts";
import type { Planner } from "./lock.ts";

/** `alias`: the part of the address before the @. */
export type Compared = { domain: Domain; alias: string; change: EmailChange };

/** The time that a planner needs after it has decided to ask: for one request, and to save the batch. */
const reservedSeconds = 120;

/**
 * Asks HIBP once for each domain with a new finding of a stealer log, if the plan has them. Adds the answer
 * to the changes. Without an answer, or without time for one, the findings have no websites.
 */
export const addStealerLogs = async (
  { org, invocation }: Planner,
  compared: readonly Compared[],
): Promise<void> => {
  const found = new Set(compared.flatMap(({ change }) => change.found));
  if (found.size === 0) return;
  const subscription = await storedSubscription();
  if (subscription?.includesStealerLogs !== true) return;
  const details = await breachDetails.details(found);
  const logIds = (change: EmailChange): number[] =>
    change.found.filter((breachId) => details.get(breachId)?.isStealerLog === true);
  const concerned = compared.filter(({ change }) => logIds(change).length > 0);
  for (const [id, ofDomain] of Map.groupBy(concerned, ({ domain }) => domain.id)) {
    const waitSeconds = invocation.remainingSeconds() - reservedSeconds;
    const name = ofDomain[0]?.domain.name ?? "";
    try {
      if (waitSeconds <= 0) throw new UpstreamFailure("unavailable", "No time is left to ask HIBP");
      const websites = await withUpstream(subscription.rpm ?? cautiousRpm, () => stealerLogs(name), {
        waitSeconds,
      });
      for (const { alias, change } of ofDomain) {
        const domains = websites.get(alias);
        if (domains !== undefined) change.stealerLogs = { breachIds: logIds(change), domains };
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      invocation.logger.warn("stealer logs not known", {
        organizationId: org,
        domainId: id,
        reason: error.message,
      });
    }
  }
};
