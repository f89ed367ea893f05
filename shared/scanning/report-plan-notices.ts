/**
 * Reports each notice about the HIBP plan to an organization once, before the end of its next scan. The
 * same transaction writes which notices hold, so that one that ceases to hold and comes back is reported
 * again.
 */
import { asRead } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { noticesFor } from "../hibp/plan-notices.ts";
import { storedSubscription } from "../hibp/subscription-state.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { problemOccurred, wake } from "../outbox/outbox.ts";

type ReportedRow = { ids?: Set<string> };

/** A message has room for a few notices; the dashboard shows all. */
const maximumTexts = 5;

export const reportPlanNotices = async (org: number, allDomains: readonly Domain[]): Promise<void> => {
  const key = keys.reportedPlanNotices(org);
  const [subscription, row] = await Promise.all([storedSubscription(), table.get<ReportedRow>(key)]);
  const reported = row?.ids ?? new Set<string>();
  const notices = noticesFor(subscription?.notices ?? [], allDomains);
  const fresh = notices.filter(({ id }) => !reported.has(id));
  if (fresh.length === 0 && reported.size === notices.length) return;
  const texts = fresh.slice(0, maximumTexts).map(({ text }) => text);
  if (fresh.length > maximumTexts)
    texts.push(`The overview of the dashboard has ${fresh.length - maximumTexts} more such notices.`);
  const ids = new Set(notices.map(({ id }) => id));
  // A failed condition means that another worker that ends the scan has reported them.
  const { written } = await table.attempt(
    table.transact([
      {
        update: key,
        ...(ids.size > 0 ? { set: { ids } } : { remove: ["ids"] }),
        if: asRead({ ids: row?.ids }),
      },
      ...(fresh.length === 0 ? [] : [problemOccurred(org, { error: texts.join(" ") })]),
    ]),
  );
  if (written && fresh.length > 0) await wake(org);
};
