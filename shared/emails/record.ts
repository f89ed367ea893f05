import { countedList } from "../table/counted-list.ts";

/**
 * A monitored e-mail as it is stored. It holds which breaches it is in and the ids of those findings, so that a scan can
 * compare an answer from upstream with it and read no finding.
 */
export type EmailRow = {
  email: string;
  ownerName: string | null;
  /** The latest scan that had begun with the domain when this e-mail was added or enabled: only later ones include it. */
  since: number;
  /** Its own last check; the domain's watermark can be later (watermark.ts). */
  lastScannedAt: string | null;
  /** Breach id to finding id. */
  findings: Record<string, number>;
  /** Breach ids of findings that have disappeared upstream. */
  gone?: Set<number>;
  /** Findings that are not acknowledged. */
  unacknowledged: number;
};

/** An e-mail that no scan has included yet; `domain` as it was read by the transaction that checks it. */
export const newEmailRow = (
  { email, ownerName }: Pick<EmailRow, "email" | "ownerName">,
  domain: { planBy: number },
): EmailRow => ({
  email,
  ownerName,
  since: domain.planBy,
  lastScannedAt: null,
  findings: {},
  unacknowledged: 0,
});

export type EmailFacet = { domainId: number; teamId: number | null; isActive: boolean };

export const emails = countedList<EmailFacet, EmailRow>("EMAIL", {
  domainId: "integer",
  teamId: "integer",
  isActive: "boolean",
});

export type Email = NonNullable<Awaited<ReturnType<typeof emails.get>>>;
