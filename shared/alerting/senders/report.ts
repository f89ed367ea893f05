/**
 * What an attempt tells of an event, read when the attempt is made: the catalog's current details, and the
 * e-mail as it is now. Addresses and names of owners are in no delivery, so that removing an e-mail removes
 * them.
 */

import { findings } from "../../findings/record.ts";
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

/** `breachDate` is YYYY-MM-DD; `advice`: the steps of the first advice for the breach; `stealerLogDomains`: as of the finding. */
type ExposedFinding = {
  id: number;
  breachDate: string;
  severity: Severity;
  advice: string[];
  stealerLogDomains?: string[] | undefined;
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
    exposure: named && { email, findings: await exposedFindings(org, breachIds, named, breaches) },
  };
};

const exposedFindings = async (
  org: number,
  breachIds: readonly number[],
  { findingIds }: EventEmail,
  breaches: readonly Breach[],
): Promise<Exposure["findings"]> => {
  const idOf = (breachId: number): number | undefined => findingIds[breachIds.indexOf(breachId)];
  const websites = await stealerLogDomains(org, breaches, idOf);
  const exposed = new Map<number, ExposedFinding>();
  for (const breach of breaches) {
    const { breachDate, severity } = breach;
    const id = idOf(breach.id);
    if (id === undefined) continue;
    const advice = adviceOf(breach)[0]?.steps ?? [];
    exposed.set(breach.id, {
      id,
      breachDate,
      severity,
      advice,
      stealerLogDomains: websites.get(breach.id),
    });
  }
  return exposed;
};

/** The websites of an e-mail's findings of stealer logs, by breach id. `findingIdOf`: by breach id. Reads nothing where there is no stealer log. */
const stealerLogDomains = async (
  org: number,
  breaches: readonly Breach[],
  findingIdOf: (breachId: number) => number | undefined,
): Promise<ReadonlyMap<number, string[]>> => {
  const ids = breaches.filter(({ isStealerLog }) => isStealerLog).flatMap(({ id }) => findingIdOf(id) ?? []);
  const websites = new Map<number, string[]>();
  for (const row of await findings.getMany(org, ids)) {
    if (row?.stealerLogDomains !== undefined) websites.set(row.breachId, row.stealerLogDomains);
  }
  return websites;
};

const readEmail = async (org: number, id: number): Promise<ExposedEmail | undefined> => {
  const row = await emails.get(org, id);
  if (row === undefined) return undefined;
  const { teamId } = emails.groupOf(row);
  const team = teamId === null ? undefined : await teams.get(org, teamId);
  return { id, address: row.email, ownerName: row.ownerName, teamName: team?.name ?? null };
};
