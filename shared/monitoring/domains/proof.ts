/**
 * Proof of a domain by its DNS record: its states, and all that changes them. The domain's row says its state
 * (`stateOf`). One more row for each name says whose domain is proved. docs/flows/domain-proof.md
 */
import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../../access/activity/activity.ts";
import { type Actor, service } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { absent, asRead, type Change, condition, exists, type Write } from "../../aws/table/condition.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { problemOccurred, wake } from "../../outbox/outbox.ts";
import { domainChanged } from "./directory-task.ts";
import * as domains from "./domain.ts";
import type { Domain } from "./domain-row.ts";
import { markDomain } from "./own-checks.ts";
import { isProof, lookUpRecord, mistakenName, recordOf } from "./proof-record.ts";

/**
 * Unverified: its addresses are not scanned. Proved: by its record. Missing: proved, but the last look-up found no
 * record. Operator: verified by an operator, whatever its record.
 */
export type State = "unverified" | "proved" | "missing" | "operator";

/**
 * What happens to a domain. Of look-ups: its record is there; it is not; it is not, for three days by now, as the
 * sweep finds; another organization has proved the name, and its record is there. Another organization proves the
 * name of a domain whose record is gone. An operator verifies or unverifies it.
 */
export type Happening = "there" | "gone" | "lost" | "taken" | "outproved" | "verify" | "unverify";

/** The states that these lead to; all others leave a domain as it is. `losses` says who is told of what. */
export const changes: Readonly<Record<State, Readonly<Partial<Record<Happening, State>>>>> = {
  unverified: { there: "proved", verify: "operator" },
  proved: {
    gone: "missing",
    lost: "missing",
    outproved: "unverified",
    verify: "operator",
    unverify: "unverified",
  },
  missing: {
    there: "proved",
    lost: "unverified",
    outproved: "unverified",
    verify: "operator",
    unverify: "unverified",
  },
  operator: { unverify: "unverified" },
};

/** Why a domain lost its proof, in the log entry and in the alert. */
export const losses = {
  lost: {
    entry: "its DNS record has been missing for three days",
    alert: "its DNS record has been missing for three days",
  },
  outproved: {
    entry: "another organization has proved it, and its own DNS record is gone",
    alert: "its DNS record is gone, and another organization has proved the domain",
  },
} as const satisfies Partial<Record<Happening, { entry: string; alert: string }>>;

export const stateOf = ({
  verified,
  verifiedBy,
  missingSince,
}: Pick<Domain, "verified" | "verifiedBy" | "missingSince">): State => {
  if (!verified) return "unverified";
  if (verifiedBy === "operator") return "operator";
  return missingSince === undefined ? "proved" : "missing";
};

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

const stateAfter = (domain: Domain, happening: Happening): State => {
  const from = stateOf(domain);
  return changes[from][happening] ?? from;
};

/**
 * Takes a domain to its next state, and records the look-up; gives whether the domain is verified now. Refuses
 * `domainNotFound` and `domainTaken`. Throws `TransactionRefused` when something has changed since it was read.
 */
const decide = async (org: number, id: number, lookUp: LookUp): Promise<boolean> => {
  const domain = await domains.get(org, id);
  if (domain === undefined) throw new Refusal("domainNotFound");
  const from = stateOf(domain);
  // No look-up takes it elsewhere, so that nothing else is read.
  if (from === "operator") {
    await note(org, domain, from, lookUp);
    return true;
  }
  const proven = await provenDomain(domain.name);
  const holder = isClaimOf(org, domain, proven) ? undefined : await holderOf(proven);
  const happening = happeningOf({ org, domain }, holder, lookUp);
  const to = stateAfter(domain, happening);
  if (from === "unverified" && to === "proved") await verify(org, domain, { proven, holder }, lookUp);
  else if (from !== "unverified" && to === "unverified") await unverify(org, domain, proven, lookUp);
  else await note(org, domain, to, lookUp);
  if (happening === "taken") throw new Refusal("domainTaken");
  return to !== "unverified";
};

const happeningOf = (
  own: OfOrganization,
  holder: OfOrganization | undefined,
  lookUp: LookUp,
): "taken" | "there" | "lost" | "gone" => {
  if (holder !== undefined && isThere(holder, lookUp)) return "taken";
  if (isThere(own, lookUp)) return "there";
  return isLost(own.domain, lookUp) ? "lost" : "gone";
};

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
  if (owner === undefined || owner.deleting === true || domain === undefined) return undefined;
  // One that is not proved cannot lose its name.
  return stateAfter(domain, "outproved") === stateOf(domain) ? undefined : { org, domain };
};

/**
 * What every look-up sets. One by hand does not postpone the sweep's, which alone ends the verification
 * of a domain.
 */
const noted = (domain: Domain, { at, lossSeconds }: LookUp) => {
  const staysDue = lossSeconds === undefined ? domain.verified : stateOf(domain) === "operator";
  return { lookedUpAt: at, ...(!staysDue && domains.lookedUp(domain.id, at)) };
};

/** Notes a look-up that verifies and unverifies nothing. A domain that has changed meanwhile needs no note. */
const note = async (org: number, domain: Domain, to: State, lookUp: LookUp): Promise<void> => {
  const { verified, verifiedBy } = domain;
  await table.attempt(
    table.update(keys.domain(org, domain.id), {
      set: noted(domain, lookUp),
      ...(to === "missing" && { setOnce: { missingSince: lookUp.at } }),
      ...(to === "proved" && { remove: ["missingSince"] }),
      if: asRead({ verified, verifiedBy }),
    }),
  );
};

/** Whoever held the name and has no record any more loses it in the same transaction. */
const verify = async (
  org: number,
  domain: Domain,
  { proven, holder }: { proven: ProvenDomain | undefined; holder: OfOrganization | undefined },
  lookUp: LookUp,
): Promise<void> => {
  const [slot, loss] = await Promise.all([activity.slot(org), holder && lossOf(holder, "outproved", lookUp)]);
  await table.transact([
    {
      update: keys.domain(org, domain.id),
      set: { ...noted(domain, lookUp), verified: true, verifiedBy: "record", verifiedAt: lookUp.at },
      remove: ["missingSince"],
      if: condition("#verified = :no", { no: false }),
    },
    claim(org, domain, proven),
    domainChanged(org, domain),
    ...activity.writes(org, slot, {
      action: "domain.verified",
      summary: `Verified the domain ${domain.name} by its DNS record`,
      actor: lookUp.actor,
    }),
    ...(loss ?? []),
  ]);
  if (holder !== undefined) await wake(holder.org);
};

const unverify = async (
  org: number,
  domain: Domain,
  proven: ProvenDomain | undefined,
  lookUp: LookUp,
): Promise<void> => {
  const writes = await lossOf({ org, domain }, "lost", lookUp, noted(domain, lookUp));
  await table.transact([...writes, ...release(org, domain, proven)]);
  await wake(org);
};

/** The writes with which a proved domain loses its verification: the domain, the log entry and the alerts. */
const lossOf = async (
  { org, domain }: OfOrganization,
  why: keyof typeof losses,
  { at }: LookUp,
  set?: Change["set"],
): Promise<Write[]> => {
  // Before the domain's check can become older than those of its e-mails (own-checks.ts).
  await markDomain(org, domain.id);
  const slot = await activity.slot(org);
  const { entry, alert } = losses[why];
  const summary = `Unverified the domain ${domain.name}: ${entry}`;
  const error = `The domain ${domain.name} is no longer verified, so its addresses are not scanned: ${alert}.`;
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
    domainChanged(org, domain),
    problemOccurred(org, { error }),
  ];
};

/**
 * An operator says that a domain is the organization's, or is not: from then on its DNS record is no longer
 * looked up, and the name is free for whoever proves it. A domain that loses its verification leaves the scan
 * in progress for good, also when it is verified again. Throws `ConditionFailed` when the domain does not
 * exist.
 */
export const setVerified = (org: number, id: number, isTheirs: boolean): Promise<void> =>
  withOptimisticRetry(async () => {
    const domain = await domains.get(org, id);
    if (domain === undefined) throw new table.ConditionFailed(undefined);
    const verified = stateAfter(domain, isTheirs ? "verify" : "unverify") === "operator";
    const proven = await provenDomain(domain.name);
    if (!verified) await markDomain(org, id);
    await table.transact([
      {
        update: keys.domain(org, id),
        set: {
          verified,
          verifiedAt: verified ? (domain.verified && domain.verifiedAt) || new Date().toISOString() : null,
          ...(verified ? { verifiedBy: "operator" } : { planState: "failed" satisfies domains.PlanState }),
        },
        remove: ["missingSince", "dueShard", "dueAt", ...(verified ? [] : ["verifiedBy"])],
        if: exists,
      },
      domainChanged(org, domain),
      ...release(org, domain, proven),
    ]);
  });

/** Bounds of what a reply shows of other people's records. */
const maximumShown = { values: 20, characters: 512 };

/**
 * Looks a domain's record up now. `found`: the values of the TXT records at its name. `foundAt`: another name
 * at which the record stands by mistake. Refuses `domainNotFound`; and `dnsUnavailable`, which changes
 * nothing. Refuses `domainTaken` when another organization has proved the name and its record is still there.
 */
export const check = async (
  org: number,
  id: number,
  actor: Actor,
): Promise<{ isVerified: boolean; found: string[]; foundAt?: string }> => {
  const domain = await domains.get(org, id);
  if (domain === undefined) throw new Refusal("domainNotFound");
  const values = await lookUpRecord(recordOf(domain).name);
  const at = new Date().toISOString();
  const isVerified = await withOptimisticRetry(() => decide(org, id, { values, at, actor }));
  const foundAt = isVerified ? undefined : await mistakenName(domain);
  return {
    isVerified,
    ...(foundAt !== undefined && { foundAt }),
    found: values
      .slice(0, maximumShown.values)
      .map((value) => value.slice(0, maximumShown.characters).toWellFormed()),
  };
};

/** In seconds: how often a record is looked up, and how long it may be missing. */
export type ProofIntervals = { daySeconds: number; lossSeconds: number };

/** DNS that did not answer is asked again after this part of a day. */
const retriesPerDay = 24;

/** The look-up of a domain whose last one is a day ago. */
export const recheck = async (
  key: Key,
  { daySeconds, lossSeconds }: ProofIntervals,
  logger: Logger,
): Promise<void> => {
  const org = organizationOf(key);
  // A function that may not write domains could make another row due that names a domain.
  if (key.pk !== keys.domain(org, 0).pk) return;
  const [owner, domain] = await Promise.all([organizations.get(org), table.get<Domain>(key)]);
  // The organization's deletion deletes the row.
  if (owner === undefined || owner.deleting === true || domain === undefined) return;
  try {
    const values = await lookUpRecord(recordOf(domain).name);
    const lookUp = { values, at: new Date().toISOString(), lossSeconds, actor: service };
    await withOptimisticRetry(() => decide(org, domain.id, lookUp));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.refusal === "dnsUnavailable") {
      const dueAt = new Date(Date.now() - daySeconds * 1_000 * (1 - 1 / retriesPerDay)).toISOString();
      await table.attempt(table.update(key, { set: { dueAt }, if: asRead({ dueAt: domain.dueAt }) }));
    }
    logger.info("a domain's proof was not decided", {
      organizationId: org,
      domainId: domain.id,
      refusal: error.refusal,
    });
  }
};

/** Whose domain of a name is proved by a record: at most one in the whole deployment. */
export type ProvenDomain = { organizationId: number; domainId: number };

export const provenDomain = (name: string): Promise<ProvenDomain | undefined> =>
  table.get(keys.provenDomain(name));

/** Says that the domain is the proved one of its name, if nobody has said anything since `before` was read. */
export const claim = (
  org: number,
  { id, name }: Pick<Domain, "id" | "name">,
  before: ProvenDomain | undefined,
): Write => ({
  put: { ...keys.provenDomain(name), organizationId: org, domainId: id },
  if: before === undefined ? absent : isOf(before.organizationId, before.domainId),
});

/** Undoes `claim`; nothing if the name is not this domain's. `before`: as it was read. */
export const release = (
  org: number,
  domain: Pick<Domain, "id" | "name">,
  before: ProvenDomain | undefined,
): Write[] =>
  isClaimOf(org, domain, before)
    ? [{ delete: keys.provenDomain(domain.name), if: isOf(org, domain.id) }]
    : [];

export const isClaimOf = (
  org: number,
  { id }: Pick<Domain, "id">,
  proven: ProvenDomain | undefined,
): boolean => proven?.organizationId === org && proven.domainId === id;

const isOf = (organizationId: number, domainId: number) =>
  condition("#organizationId = :claimant AND #domainId = :domain", {
    claimant: organizationId,
    domain: domainId,
  });
