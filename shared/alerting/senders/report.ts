/**
 * What an attempt tells of an event, read when the attempt is made: the catalog's current details, and the
 * e-mail as it is now. Addresses and names of owners are in no delivery, so that removing an e-mail removes
 * them.
 */

import { emails } from "../../monitoring/emails/record.ts";
import { adviceOf } from "../../monitoring/hibp/advice.ts";
import type { Breach } from "../../monitoring/hibp/breach.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import type { Severity } from "../../monitoring/hibp/severity-schema.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { AlertEvent, EventEmail } from "../deliveries/delivery.ts";
import type { Event } from "./envelope.ts";

export type Report = {
  /** The scan in which it happened. */
  scanId?: number | undefined;
  /** What every receiver is told. */
  event: Event;
  /** What only people are told. Undefined for webhooks and for other events. */
  exposure?: Exposure | undefined;
  /** Ids of those of its breaches that are sensitive. */
  sensitive?: readonly number[];
};

export type Exposure = {
  /** Undefined: it is no longer monitored, and its findings are deleted. */
  email: ExposedEmail | undefined;
  /** By breach id. */
  findings: ReadonlyMap<number, ExposedFinding>;
};

/** `breachDate` is YYYY-MM-DD; `advice`: the steps of the first advice for the breach. */
type ExposedFinding = { id: number; breachDate: string; severity: Severity; advice: string[] };

export type ExposedEmail = {
  id: number;
  address: string;
  ownerName: string | null;
  teamName: string | null;
};

/** The report of an event. `forPeople` also reads whose address it is, and the e-mail's team. */
export const readReport = async (
  org: number,
  event: Exclude<AlertEvent, { type: "gathered" | "risen" | "owner" }>,
  { forPeople }: { forPeople: boolean },
): Promise<Report> => {
  if (event.type !== "breach") {
    const { type, scanId, ...data } = event;
    return { scanId, event: { type, data } as Event };
  }
  const { breachIds, scanId } = event;
  const named = forPeople ? event.email : undefined;
  const [details, email] = await Promise.all([
    breachDetails.details(breachIds),
    named && readEmail(org, named.id),
  ]);
  const breaches = breachIds.map((id) => details.get(id)).filter((breach) => breach !== undefined);
  return {
    scanId,
    event: {
      type: "breach",
      data: {
        breaches: breaches.map(({ id, title, domain, dataClasses }) => ({
          breachId: id,
          title,
          domain,
          dataClasses,
        })),
      },
    },
    sensitive: breaches.filter(({ isSensitive }) => isSensitive).map(({ id }) => id),
    exposure: named && { email, findings: findingsOf(breachIds, named, details) },
  };
};

const findingsOf = (
  breachIds: readonly number[],
  { findingIds }: EventEmail,
  details: ReadonlyMap<number, Breach>,
): Exposure["findings"] => {
  const findings = new Map<number, ExposedFinding>();
  for (const [index, breachId] of breachIds.entries()) {
    const [id, breach] = [findingIds[index], details.get(breachId)];
    if (id === undefined || breach === undefined) continue;
    const { breachDate, severity } = breach;
    findings.set(breachId, { id, breachDate, severity, advice: adviceOf(breach)[0]?.steps ?? [] });
  }
  return findings;
};

const readEmail = async (org: number, id: number): Promise<ExposedEmail | undefined> => {
  const row = await emails.get(org, id);
  if (row === undefined) return undefined;
  const { teamId } = emails.groupOf(row);
  const team = teamId === null ? undefined : await teams.get(org, teamId);
  return { id, address: row.email, ownerName: row.ownerName, teamName: team?.name ?? null };
};
