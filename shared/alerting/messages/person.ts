/**
 * What a message says of one address, read when the message is sent: the catalog's current details, and the
 * e-mail as it is now. Addresses and names of owners are in no delivery, so that removing an e-mail removes
 * them.
 */
import { findings } from "../../findings/record.ts";
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { Delivery, PersonEvent } from "../deliveries/delivery.ts";
import type { Unwatched } from "./unwatched.ts";

/** A breach that an address is in. `stealerLogDomains`: as of the finding. */
export type OwnBreach = Breach & { findingId: number; stealerLogDomains?: string[] | undefined };

/** `email`: undefined once it is no longer monitored. `breaches`: worst first. */
export type PersonReport = {
  kind: "person";
  scanId: number | undefined;
  email: { id: number; address: string; ownerName: string | null; teamName: string | null } | undefined;
  breaches: OwnBreach[];
  /** Addresses that nobody watches, beside this person. */
  unwatched?: Unwatched | undefined;
};

/** What the owner of an address is told. `breaches`: worst first, at least one. */
export type OwnerReport = { kind: "owner"; address: string; breaches: OwnBreach[] };

type Read = { email: Email | undefined; breaches: (OwnBreach & { ownerDelivery: number | undefined })[] };

const read = async (org: number, { breachIds, email: { id, findingIds } }: PersonEvent): Promise<Read> => {
  const [details, email, rows] = await Promise.all([
    breachDetails.details(breachIds),
    emails.get(org, id),
    findings.getMany(org, findingIds),
  ]);
  const breaches = breachIds.flatMap((breachId, index) => {
    const breach = details.get(breachId);
    const { stealerLogDomains, ownerDelivery } = rows[index] ?? {};
    const findingId = findingIds[index] ?? 0;
    return breach === undefined ? [] : [{ ...breach, findingId, stealerLogDomains, ownerDelivery }];
  });
  return { email, breaches: breaches.sort((one, other) => levelOf(other.severity) - levelOf(one.severity)) };
};

export const readPerson = async (
  org: number,
  event: PersonEvent & { scanId?: number },
): Promise<PersonReport> => {
  const { email: row, breaches } = await read(org, event);
  const teamId = row && emails.groupOf(row).teamId;
  const team = teamId ? await teams.get(org, teamId) : undefined;
  const email = row && {
    id: row.id,
    address: row.email,
    ownerName: row.ownerName,
    teamName: team?.name ?? null,
  };
  return { kind: "person", scanId: event.scanId, email, breaches };
};

/**
 * Undefined: there is nobody to tell. Since the delivery was created, the address was removed or disabled, or
 * its domain lost its proof. Or the breach became sensitive or fell below `least`, or a later message tells
 * it. A delivery that is over is read as it was sent.
 */
export const readOwner = async (
  org: number,
  delivery: Pick<Delivery, "id" | "dueAt">,
  event: PersonEvent,
  least = 0,
): Promise<OwnerReport | undefined> => {
  const { email, breaches } = await read(org, event);
  const group = email && emails.groupOf(email);
  if (email === undefined || group?.isActive !== true) return undefined;
  if ((await domains.get(org, group.domainId))?.verified !== true) return undefined;
  const isOver = delivery.dueAt === undefined;
  const shown = breaches.filter(
    ({ isSensitive, severity, ownerDelivery }) =>
      !isSensitive && levelOf(severity) >= least && (isOver || ownerDelivery === delivery.id),
  );
  return shown.length === 0 ? undefined : { kind: "owner", address: email.email, breaches: shown };
};
