/**
 * Tells an organization once of each notice about the HIBP plan, before the end of its next scan. The
 * same transaction writes which notices hold, so that one that ceases to hold and comes back is told
 * again.
 */
import { asRead } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { noticesFor } from "../hibp/plan-notices.ts";
import { storedSubscription } from "../hibp/subscription-state.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { problemOccurred, wake } from "../outbox/outbox.ts";

type ToldRow = { ids?: Set<string> };

/** A message has room for a few notices; the dashboard shows all. */
const maximumTexts = 5;

export const tellNotices = async (org: number, allDomains: readonly Domain[]): Promise<void> => {
  const key = keys.toldNotices(org);
  const [subscription, row] = await Promise.all([storedSubscription(), table.get<ToldRow>(key)]);
  const told = row?.ids ?? new Set<string>();
  const notices = noticesFor(subscription?.notices ?? [], allDomains);
  const fresh = notices.filter(({ id }) => !told.has(id));
  if (fresh.length === 0 && told.size === notices.length) return;
  const texts = fresh.slice(0, maximumTexts).map(({ text }) => text);
  if (fresh.length > maximumTexts)
    texts.push(`The overview of the dashboard has ${fresh.length - maximumTexts} more such notices.`);
  const ids = new Set(notices.map(({ id }) => id));
  // A failed condition means that another worker that ends the scan has told them.
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
