import { countedList } from "../../lists/counted-list.ts";

/**
 * The stored fields of a monitored e-mail. The row lists the e-mail's breaches and findings, so that a scan
 * compares an answer from upstream with this row alone and reads no finding.
 */
export type EmailRow = {
  email: string;
  ownerName: string | null;
  /**
   * Id of a scan: the domain's `plannedByScan` when the e-mail was added or enabled. Scans up to this id
   * leave the e-mail out.
   */
  afterScan: number;
  /** The e-mail's own last check (ISO 8601); the domain's watermark can be later (watermark.ts). */
  lastScannedAt: string | null;
  /** Finding ids by breach id. */
  findings: Record<string, number>;
  /** Ids of breaches that have a finding but disappeared upstream. */
  gone?: Set<number>;
  /** How many findings are not acknowledged. */
  unacknowledged: number;
};

/** The row of a new e-mail. The transaction that writes it must check `domains.unchanged` for `domain`. */
export const newEmailRow = (
  { email, ownerName }: Pick<EmailRow, "email" | "ownerName">,
  domain: { plannedByScan: number },
): EmailRow => ({
  email,
  ownerName,
  afterScan: domain.plannedByScan,
  lastScannedAt: null,
  findings: {},
  unacknowledged: 0,
});

/** Whether an e-mail has a finding. Active ones are counted (lists/counts.ts). */
export const isBreached = ({ findings }: Pick<EmailRow, "findings">): boolean =>
  Object.keys(findings).length > 0;

export type EmailGroup = { domainId: number; teamId: number | null; isActive: boolean };

export const emails = countedList<EmailGroup, EmailRow>("EMAIL", {
  domainId: "integer",
  teamId: "integer",
  isActive: "boolean",
});

export type Email = NonNullable<Awaited<ReturnType<typeof emails.get>>>;
