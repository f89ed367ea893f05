/**
 * Removal of a domain without e-mails. The domain is marked first, so that no e-mail can be added while its e-mails are counted.
 * A due row lets the sweep finish or undo a removal that was interrupted. The row stays afterwards and says that the domain was removed.
 */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { condition, type Item } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { emails } from "../emails/record.ts";
import { removeAll as removeUnwatched } from "../unwatched/record.ts";
import * as domains from "./domain.ts";
import { provenDomain, release } from "./proof-record.ts";

/** Time for the request to finish; after it the sweep takes over. */
const leaseMilliseconds = 60_000;

/** Whether the domain was verified before it was marked, and who asked; absent once it is removed. */
type Begun = { wasVerified: boolean; actor: Actor };

/**
 * Removes a domain; removing it again succeeds and is not logged. Refuses `domainNotFound`, and `domainInUse` when it has e-mails,
 * disabled ones included.
 */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const [domain, removal, isUsed] = await Promise.all([
    domains.get(org, id),
    table.get(keys.domainRemoval(org, id)),
    hasEmails(org, id),
  ]);
  if (domain === undefined) {
    if (removal === undefined) throw new Refusal("domainNotFound");
    return;
  }
  if (isUsed) throw new Refusal("domainInUse");
  if (domain.removing !== true) await withOptimisticRetry(() => begin(org, id, actor));
  if ((await finish(org, id)) === "in use") throw new Refusal("domainInUse");
};

/** Finishes or undoes a removal that was interrupted. Does nothing if the removal has ended. */
export const resume = async (org: number, id: number): Promise<void> => {
  await finish(org, id);
};

const hasEmails = async (org: number, id: number): Promise<boolean> =>
  emails.sum(await emails.directory(org), (group) => group.domainId === id) > 0;

const begin = async (org: number, id: number, actor: Actor): Promise<void> => {
  const domain = await domains.get(org, id);
  if (domain === undefined || domain.removing === true) return;
  const { verified } = domain;
  const begun: Begun = { wasVerified: verified, actor };
  await table.transact([
    {
      update: keys.domain(org, id),
      set: { removing: true, verified: false, planState: "failed" satisfies domains.PlanState },
      if: condition("#verified = :verified AND attribute_not_exists(#removing)", { verified }),
    },
    {
      put: {
        ...keys.domainRemoval(org, id),
        ...begun,
        dueShard: dueShard("DOMAIN-REMOVAL", id),
        dueAt: new Date(Date.now() + leaseMilliseconds).toISOString(),
      },
    },
  ]);
};

/** "over": somebody else has finished or undone it. */
const finish = (org: number, id: number): Promise<"removed" | "in use" | "over"> =>
  withOptimisticRetry(async () => {
    const [domain, removal] = await Promise.all([
      domains.get(org, id),
      table.get<Item & Partial<Begun>>(keys.domainRemoval(org, id)),
    ]);
    const { wasVerified, actor } = removal ?? {};
    if (domain?.removing !== true || wasVerified === undefined || actor === undefined) return "over";
    const isMarked = condition("#removing = :yes", { yes: true });
    // Nobody can add an e-mail since the mark; one that was added just before it is seen here.
    if (await hasEmails(org, id)) {
      await table.transact([
        {
          update: keys.domain(org, id),
          set: { verified: wasVerified },
          remove: ["removing"],
          if: isMarked,
        },
        { delete: keys.domainRemoval(org, id) },
      ]);
      return "in use";
    }
    await removeUnwatched(org, id);
    const [proven, slot] = await Promise.all([provenDomain(domain.name), activity.slot(org)]);
    await table.transact([
      { delete: keys.domain(org, id), if: isMarked },
      { delete: keys.domainName(org, domain.name) },
      { delete: keys.ownChecksOfDomain(org, id) },
      {
        update: keys.domainRemoval(org, id),
        set: { removedAt: slot.createdAt },
        remove: ["wasVerified", "actor", "dueShard", "dueAt"],
      },
      ...release(org, domain, proven),
      ...activity.writes(org, slot, {
        action: "domain.removed",
        summary: `Removed the domain ${domain.name}`,
        actor,
      }),
    ]);
    return "removed";
  });
