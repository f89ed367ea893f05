/**
 * What an attempt tells of an event, read when the attempt is made: the catalog's current details, and the
 * e-mail as it is now. Addresses and names of owners are in no delivery, so that removing an e-mail removes
 * them.
 */

import { emails } from "../../monitoring/emails/record.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { AlertEvent, EventEmail } from "../deliveries/delivery.ts";
import type { Event } from "./envelope.ts";

export type Report = {
  /** What every receiver is told. */
  event: Event;
  /** What only people are told. Undefined for webhooks and for other events. */
  exposure?: Exposure | undefined;
  /** One of the breaches is sensitive. */
  isSensitive?: true;
};

export type Exposure = {
  /** Undefined: it is no longer monitored, and its findings are deleted. */
  email: ExposedEmail | undefined;
  /** By breach id. `breachDate` is YYYY-MM-DD. */
  findings: ReadonlyMap<number, { id: number; breachDate: string }>;
};

export type ExposedEmail = {
  id: number;
  address: string;
  ownerName: string | null;
  teamName: string | null;
};

/** The report of an event. `forPeople` also reads whose address it is, and the e-mail's team. */
export const readReport = async (
  org: number,
  event: Exclude<AlertEvent, { type: "gathered" | "risen" }>,
  { forPeople }: { forPeople: boolean },
): Promise<Report> => {
  if (event.type !== "breach") {
    const { type, ...data } = event;
    return { event: { type, data } as Event };
  }
  const { breachIds } = event;
  const named = forPeople ? event.email : undefined;
  const [details, email] = await Promise.all([
    breachDetails.details(breachIds),
    named && readEmail(org, named.id),
  ]);
  const breaches = breachIds.map((id) => details.get(id)).filter((breach) => breach !== undefined);
  return {
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
    ...(breaches.some(({ isSensitive }) => isSensitive) && { isSensitive: true }),
    exposure: named && { email, findings: findingsOf(breachIds, named, details) },
  };
};

const findingsOf = (
  breachIds: readonly number[],
  { findingIds }: EventEmail,
  details: ReadonlyMap<number, { breachDate: string }>,
): Exposure["findings"] => {
  const findings = new Map<number, { id: number; breachDate: string }>();
  for (const [index, breachId] of breachIds.entries()) {
    const [id, breach] = [findingIds[index], details.get(breachId)];
    if (id !== undefined && breach !== undefined)
      findings.set(breachId, { id, breachDate: breach.breachDate });
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
