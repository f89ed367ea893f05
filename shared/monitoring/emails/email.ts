import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { seats } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import type { Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import { Refusal } from "../../contract/errors.ts";
import { reserveOne } from "../../lists/blocks.ts";
import * as domains from "../domains/domain.ts";
import * as teams from "../teams/team.ts";
import { additionOf, changeOf, transactionOf } from "./changes.ts";
import { emails } from "./record.ts";

type NewEmail = {
  email: string;
  domainId: number;
  teamId?: number | undefined;
  ownerName?: string | undefined;
};

/** Counts the request against the organization's hourly limit; refuses `organizationLimit` beyond it. */
type Count = () => Promise<void>;
const uncounted: Count = async () => {};

/**
 * Starts monitoring an address and returns the id of the e-mail. Refuses `invalidInput` before it counts the
 * request, and after that `domainNotFound`, `teamNotFound`, `domainNotVerified`, `emailAlreadyMonitored`,
 * `seatAllowanceReached`. `also`: further writes of the transaction, which go first.
 */
export const add = (
  org: number,
  input: NewEmail,
  actor: Actor,
  count: Count = uncounted,
  also: (id: number) => readonly Write[] = () => [],
): Promise<number> =>
  withOptimisticRetry(async () => {
    const { email, domainId, teamId = null, ownerName = null } = input;
    const [owner, domain, team, monitored] = await Promise.all([
      organizations.existing(org),
      domains.get(org, domainId),
      teamId === null ? undefined : teams.get(org, teamId),
      table.get(keys.address(org, email)),
    ]);
    if (domain !== undefined && domainOf(email) !== domain.name) {
      throw new Refusal("invalidInput", { error: "email: is not an address of the named domain" });
    }
    await count();
    if (domain === undefined) throw new Refusal("domainNotFound");
    if (teamId !== null && team === undefined) throw new Refusal("teamNotFound");
    if (!domain.verified) throw new Refusal("domainNotVerified");
    if (monitored !== undefined) throw new Refusal("emailAlreadyMonitored");

    const [reserved, slot] = await Promise.all([reserveOne(org, "EMAIL"), activity.slot(org)]);
    const addition = additionOf(org, reserved, { email, ownerName, teamId, isActive: true }, domain);
    await table.transact([
      ...also(reserved.id),
      ...transactionOf(org, [addition]),
      { ...seats(org, 1, owner.billing), refusal: "seatAllowanceReached" },
      ...activity.writes(org, slot, { action: "email.added", summary: `Added ${email}`, actor }),
    ]);
    return reserved.id;
  });

/**
 * Enables or disables an e-mail. A call that changes nothing succeeds and is not logged. Counts the request,
 * then refuses `emailNotFound`, `domainNotVerified`, `seatAllowanceReached`.
 */
export const setActive = (
  org: number,
  id: number,
  isActive: boolean,
  actor: Actor,
  count: Count = uncounted,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const [owner, row] = await Promise.all([organizations.existing(org), emails.get(org, id), count()]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const domain = await domains.existing(org, emails.groupOf(row).domainId);
    if (isActive && !domain.verified) throw new Refusal("domainNotVerified");
    const change = changeOf(org, row, { isActive }, domain);
    if (change === undefined) return;
    const slot = await activity.slot(org);
    await table.transact([
      ...transactionOf(org, [change]),
      { ...seats(org, change.seats, owner.billing), refusal: "seatAllowanceReached" },
      ...activity.writes(org, slot, {
        action: isActive ? "email.enabled" : "email.disabled",
        summary: `${isActive ? "Enabled" : "Disabled"} ${row.email}`,
        actor,
      }),
    ]);
  });
