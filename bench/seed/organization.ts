/**
 * The rows of a seeded organization that are no list: itself, its user, API keys, teams, seats and domains.
 */
import type { Billing } from "../../shared/access/billing/billing-schema.ts";
import type { ApiKey } from "../../shared/access/keys/api-key.ts";
import { hashOf, previewOf } from "../../shared/access/keys/secret.ts";
import type { User } from "../../shared/access/members/user.ts";
import type { Organization } from "../../shared/access/organizations/organization.ts";
import { expiry, type Session } from "../../shared/access/sessions/session.ts";
import { type CounterKind, keys } from "../../shared/aws/table/keys.ts";
import type { Domain } from "../../shared/monitoring/domains/domain.ts";
import { newProofToken } from "../../shared/monitoring/domains/domain.ts";
import { comparable, type Team } from "../../shared/monitoring/teams/team.ts";
import { domainNames, isActive } from "./addresses.ts";
import { breachCount } from "./breaches.ts";
import { actor, type Clock, org, type Row, teamCount, timeOfScan } from "./shape.ts";

/** The billing of an organization that pays and may do everything. */
export const activeBilling: Billing = {
  status: "active",
  trialEndsAt: null,
  interval: "month",
  seatPriceCents: 100,
  seatAllowance: null,
};

export const organizationRows = function* (
  createdAt: string,
  { apiKeys, session }: { apiKeys: readonly string[]; session: string },
): Generator<Row> {
  const organization: Organization = {
    id: org,
    name: "Seeded",
    createdAt,
    billing: activeBilling,
    scanEvery: "never",
    firstScanAt: null,
  };
  yield { ...keys.organization(org), ...organization };
  yield { ...keys.organizations(org), id: org };
  const user: User = {
    id: actor.id ?? 0,
    email: actor.label,
    name: null,
    role: "admin",
    createdAt,
    removed: false,
  };
  yield { ...keys.user(org, user.id), ...user };
  yield { ...keys.signInAddress(user.email, org), organizationId: org, userId: user.id };
  for (const [index, secret] of apiKeys.entries()) {
    const row: ApiKey = {
      id: index + 1,
      label: `Bench ${index + 1}`,
      createdAt,
      revokedAt: null,
      preview: previewOf(secret),
      // As in use: the first request of an hour notes this in one more trip, which would count as the operation's.
      lastUsedAt: new Date().toISOString(),
    };
    yield { ...keys.apiKey(org, hashOf(secret)), ...row };
  }
  const now = new Date();
  const row: Session = {
    id: 1,
    userId: user.id,
    userLabel: user.email,
    createdAt: now.toISOString(),
    lastUsedAt: now.toISOString(),
    expiresAt: expiry(now.toISOString(), now),
  };
  yield { ...keys.session(org, user.id, hashOf(session)), ...row };
  for (let id = 1; id <= teamCount; id++) {
    const team: Team = { id, name: `Team ${id}`, createdAt };
    yield { ...keys.team(org, id), ...team };
    yield { ...keys.teamName(org, comparable(team.name)), id };
  }
  /** The last id that was drawn of each kind. */
  const counters: Partial<Record<CounterKind, number>> = {
    ORGANIZATION: org,
    DOMAIN: domainNames.length,
    TEAM: teamCount,
    USER: user.id,
    KEY: apiKeys.length,
    BREACH: breachCount,
  };
  for (const [kind, value] of Object.entries(counters)) yield { ...keys.counter(kind as CounterKind), value };
};

/** `lastScan`: the id of the latest scan, or 0 when the domains were never scanned. */
export const domainRows = function* (addresses: number, clock: Clock, lastScan: number): Generator<Row> {
  yield {
    ...keys.seats(org),
    active: Array.from({ length: addresses }).filter((_, index) => isActive(index)).length,
  };
  const lastScanAt = lastScan === 0 ? null : timeOfScan(clock, lastScan);
  for (const [index, name] of domainNames.entries()) {
    const id = index + 1;
    const domain: Domain = {
      id,
      name,
      verified: true,
      verifiedBy: "operator",
      verifiedAt: clock(0),
      proofToken: newProofToken(),
      createdAt: clock(0),
      plannedByScan: lastScan,
      checkedByScan: lastScan,
      checkedAt: lastScanAt,
      ...(lastScanAt !== null && { planAt: lastScanAt, planState: "checked", planBatch: 1 }),
    };
    yield { ...keys.domainName(org, name), id };
    yield { ...keys.domain(org, id), ...domain };
  }
};
