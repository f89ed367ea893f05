/** Removal of a domain without e-mails. A row that stays says that the domain was removed. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { emails } from "../emails/record.ts";
import { removeAll as removeUnwatched } from "../unwatched/store.ts";
import { domainChanged } from "./directory-task.ts";
import * as domains from "./domain.ts";
import { provenDomain, release } from "./proof.ts";

/**
 * Longer than `activity.writes` lets a transaction begin after `activity.slot`, so that a process that
 * stood still removes nothing.
 */
const markMilliseconds = 60_000;

/**
 * Removes a domain; removing it again succeeds and is not logged. Refuses `domainNotFound`, and
 * `domainInUse` when it has e-mails, disabled ones included. The domain is marked while its e-mails are
 * counted, so that nobody can add one (`unchanged` in domain.ts). The mark of a request that died ends
 * by itself.
 */
export const remove = (org: number, id: number, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const key = keys.domain(org, id);
    const [domain, removed, isUsed] = await Promise.all([
      domains.get(org, id),
      table.get(keys.domainRemoval(org, id)),
      hasEmails(org, id),
    ]);
    if (domain === undefined) {
      if (removed === undefined) throw new Refusal("domainNotFound");
      return;
    }
    if (isUsed) throw new Refusal("domainInUse");
    const { name, plannedByScan, verifiedAt } = domain;
    const [proven, slot] = await Promise.all([provenDomain(name), activity.slot(org)]);
    const removing = new Date(Date.now() + markMilliseconds).toISOString();
    // A scan leaves out a domain of this state, and adds no unwatched addresses of it.
    const planState: domains.PlanState = "failed";
    await table.transact([
      { update: key, set: { removing, planState }, if: asRead({ plannedByScan, verifiedAt }) },
    ]);
    if (await hasEmails(org, id)) {
      await table.attempt(table.update(key, { remove: ["removing"], if: asRead({ removing }) }));
      throw new Refusal("domainInUse");
    }
    await removeUnwatched(org, id);
    await table.transact([
      { delete: key, if: asRead({ removing, plannedByScan, verifiedAt }) },
      { delete: keys.domainName(org, name) },
      { delete: keys.ownChecksOfDomain(org, id) },
      { put: { ...keys.domainRemoval(org, id), removedAt: slot.createdAt } },
      domainChanged(org, domain),
      ...release(org, domain, proven),
      ...activity.writes(org, slot, {
        action: "domain.removed",
        summary: `Removed the domain ${name}`,
        actor,
      }),
    ]);
  });

const hasEmails = async (org: number, id: number): Promise<boolean> =>
  emails.sum(await emails.tally(org), (group) => group.domainId === id) > 0;
