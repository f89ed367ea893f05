import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Email } from "../../api/routes.ts";
import { type CsvColumns, ExportDialog } from "../../components/export.tsx";
import { severities } from "../../components/severity.tsx";
import { addresses } from "../../text/words.ts";

const columns: CsvColumns<Email> = [
  ["id", ({ id }) => id],
  ["email", ({ email }) => email],
  ["owner", ({ ownerName }) => ownerName],
  ["team", ({ team }) => team?.name ?? null],
  ["domain", ({ domain }) => domain.name],
  ["worst_open", ({ severity }) => severity],
  ["open", ({ unacknowledgedBreachCount }) => unacknowledgedBreachCount],
  ["breaches", ({ breachCount }) => breachCount],
  ["last_checked_at", ({ lastScannedAt }) => lastScannedAt],
  ["state", ({ isActive }) => (isActive ? "enabled" : "disabled")],
  ["left", ({ hasLeft }) => (hasLeft ? "yes" : "no")],
  ["privileged", ({ isPrivileged }) => (isPrivileged ? "yes" : "no")],
];

type Source = "directory" | "hand";
type ExportProps = {
  query: Record<string, string | undefined> & { source?: Source | undefined };
  onClose: () => void;
};

const idOf = (value: string | undefined) => (value === undefined ? undefined : Number(value));
const flagOf = (value: string | undefined) => (value === undefined ? undefined : value === "true");

const bodyOf = ({ q, domainId, teamId, isActive, breached, source, left }: ExportProps["query"]) => ({
  q,
  domainId: idOf(domainId),
  teamId: idOf(teamId),
  isActive: flagOf(isActive),
  breached: flagOf(breached),
  source,
  left: flagOf(left),
});

const rankOf = ({ severity }: Email): number =>
  severity === null ? severities.length : severities.indexOf(severity);

const worstFirst = (one: Email, other: Email): number =>
  rankOf(one) - rankOf(other) ||
  other.unacknowledgedBreachCount - one.unacknowledgedBreachCount ||
  other.id - one.id;

/** Asks for the newest first: in the order of exposure a scan may move a row to a page that was read already. */
export const ExportEmails = ({ query: { order, ...query }, onClose }: ExportProps) => (
  <ExportDialog
    what="e-mails"
    columns={columns}
    pagesOf={(signal) =>
      allPages("emails", (page) =>
        call("GET /dashboard/emails", { query: { ...query, ...page } }, { signal }),
      )
    }
    inOrder={order === "worst" ? worstFirst : undefined}
    counted={addresses}
    record={(rows, signal) =>
      call("POST /dashboard/exports", { body: { list: "emails", filter: bodyOf(query), rows } }, { signal })
    }
    onClose={onClose}
  />
);
