/**
 * What a look-up of a domain's DNS record means for it, and for another organization's domain of its name.
 */
import * as activity from "../../access/activity/activity.ts";
import { type Actor, service } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { asRead, type Change, condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { problemOccurred, wake } from "../../outbox/outbox.ts";
import * as domains from "./domain.ts";
import type { Domain } from "./domain-row.ts";
import { markDomain } from "./own-checks.ts";
import { claim, isClaimOf, isProof, type ProvenDomain, provenDomain, release } from "./proof-record.ts";

/** The result of a DNS look-up: the values, its time, and who asked. */
type LookUp = {
  /** The values of the TXT records at the record's name. */
  values: readonly string[];
  /** ISO 8601. */
  at: string;
  /** Who asked. */
  actor: Actor;
  /** How long the record of a verified domain may be missing; undefined: that is not for this look-up to decide. */
  lossSeconds?: number;
};

/**
 * Verifies a domain whose record is there, and unverifies one whose record has been missing for too long.
 * Records the look-up; gives whether the domain is verified now. Refuses `domainNotFound` and `domainTaken`.
 * Throws `TransactionRefused` when something has changed since it was read.
 */
export const decide = async (org: number, id: number, lookUp: LookUp): Promise<boolean> => {
  const domain = await domains.get(org, id);
  if (domain === undefined) throw new Refusal("domainNotFound");
  if (isOperators(domain)) return note(org, domain, lookUp);

  const proven = await provenDomain(domain.name);
  const holder = isClaimOf(org, domain, proven) ? undefined : await holderOf(proven);
  if (holder !== undefined && isThere(holder, lookUp)) {
    await note(org, domain, lookUp);
    throw new Refusal("domainTaken");
  }
  if (isThere({ org, domain }, lookUp)) {
    return domain.verified
      ? note(org, domain, lookUp, { remove: ["missingSince"] })
      : verify(org, domain, { proven, holder }, lookUp);
  }
  if (!domain.verified) return note(org, domain, lookUp);
  return isLost(domain, lookUp)
    ? unverify(org, domain, proven, lookUp)
    : note(org, domain, lookUp, { setOnce: { missingSince: lookUp.at } });
};

/** Whether an operator answers for the domain, whatever its record. */
const isOperators = ({ verified, verifiedBy }: Domain): boolean => verified && verifiedBy === "operator";

type OfOrganization = { org: number; domain: Domain };

const isThere = ({ domain }: OfOrganization, { values }: LookUp): boolean => isProof(domain, values);

const isLost = ({ missingSince }: Domain, { at, lossSeconds }: LookUp): boolean =>
  missingSince !== undefined &&
  lossSeconds !== undefined &&
  Date.parse(at) - Date.parse(missingSince) >= lossSeconds * 1_000;

/** The domain that holds the name, unless it is gone or about to go with its organization. */
const holderOf = async (proven: ProvenDomain | undefined): Promise<OfOrganization | undefined> => {
  if (proven === undefined) return undefined;
  const { organizationId: org, domainId } = proven;
  const [owner, domain] = await Promise.all([organizations.get(org), domains.get(org, domainId)]);
  const isHeld = owner !== undefined && owner.deleting !== true && domain?.verifiedBy === "record";
  return isHeld ? { org, domain } : undefined;
};

/**
 * What every look-up sets. One by hand does not postpone the sweep's, which alone ends the verification
 * of a domain.
 */
const noted = (domain: Domain, { at, lossSeconds }: LookUp) => {
  const staysDue = lossSeconds === undefined ? domain.verified : isOperators(domain);
  return { lookedUpAt: at, ...(!staysDue && domains.lookedUp(domain.id, at)) };
};

/** Notes a look-up that changes nothing else. A domain that has changed meanwhile needs no note. */
const note = async (
  org: number,
  domain: Domain,
  lookUp: LookUp,
  change: Pick<Change, "setOnce" | "remove"> = {},
): Promise<boolean> => {
  const { verified, verifiedBy } = domain;
  await table.attempt(
    table.update(keys.domain(org, domain.id), {
      ...change,
      set: noted(domain, lookUp),
      if: asRead({ verified, verifiedBy }),
    }),
  );
  return domain.verified;
};

/** Whoever held the name and has no record any more loses it in the same transaction. */
const verify = async (
  org: number,
  domain: Domain,
  { proven, holder }: { proven: ProvenDomain | undefined; holder: OfOrganization | undefined },
  lookUp: LookUp,
): Promise<boolean> => {
  const [slot, loss] = await Promise.all([
    activity.slot(org),
    holder &&
      lossOf(holder, lookUp, {
        summary:
          `Unverified the domain ${domain.name}: another organization has proved it, and its own ` +
          "DNS record is gone",
        alert:
          `The domain ${domain.name} is no longer verified, so its addresses are not scanned: its ` +
          "DNS record is gone, and another organization has proved the domain.",
      }),
  ]);
  await table.transact([
    {
      update: keys.domain(org, domain.id),
      set: { ...noted(domain, lookUp), verified: true, verifiedBy: "record", verifiedAt: lookUp.at },
      remove: ["missingSince"],
      if: condition("#verified = :no", { no: false }),
    },
    claim(org, domain, proven),
    ...activity.writes(org, slot, {
      action: "domain.verified",
      summary: `Verified the domain ${domain.name} by its DNS record`,
      actor: lookUp.actor,
    }),
    ...(loss ?? []),
  ]);
  if (holder !== undefined) await wake(holder.org);
  return true;
};

const unverify = async (
  org: number,
  domain: Domain,
  proven: ProvenDomain | undefined,
  lookUp: LookUp,
): Promise<boolean> => {
  const writes = await lossOf({ org, domain }, lookUp, {
    summary: `Unverified the domain ${domain.name}: its DNS record has been missing for three days`,
    alert:
      `The domain ${domain.name} is no longer verified, so its addresses are not scanned: its DNS ` +
      "record has been missing for three days.",
    set: noted(domain, lookUp),
  });
  await table.transact([...writes, ...release(org, domain, proven)]);
  await wake(org);
  return false;
};

/** The writes with which a proved domain loses its verification: the domain, the log entry and the alerts. */
const lossOf = async (
  { org, domain }: OfOrganization,
  { at }: LookUp,
  { summary, alert, set }: { summary: string; alert: string; set?: Change["set"] },
): Promise<Write[]> => {
  // Before the domain's check can become older than those of its e-mails (own-checks.ts).
  await markDomain(org, domain.id);
  const slot = await activity.slot(org);
  return [
    {
      update: keys.domain(org, domain.id),
      set: {
        lookedUpAt: at,
        ...set,
        verified: false,
        verifiedAt: null,
        planState: "failed" satisfies domains.PlanState,
      },
      remove: ["verifiedBy", "missingSince"],
      if: condition("#verified = :verified AND #verifiedBy = :record", { verified: true, record: "record" }),
    },
    ...activity.writes(org, slot, { action: "domain.unverified", summary, actor: service }),
    problemOccurred(org, { error: alert }),
  ];
};
