import { allPages } from "../../api/all-pages.ts";
import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { type CsvColumns, ExportDialog } from "../../components/export.tsx";
import { knownDay } from "../../text/dates.ts";
import { textOfHtml } from "../../text/html.ts";
import { count } from "../../text/words.ts";
import { bodyOf, type Filters } from "./filters.ts";

const columns: CsvColumns<Finding> = [
  ["id", ({ id }) => id],
  ["email", ({ email }) => email],
  ["owner", ({ ownerName }) => ownerName],
  ["team", ({ team }) => team?.name ?? null],
  ["left", ({ hasLeft }) => (hasLeft ? "yes" : "no")],
  ["privileged", ({ isPrivileged }) => (isPrivileged ? "yes" : "no")],
  ["severity", ({ severity }) => severity],
  ["breach", ({ breach }) => breach.title],
  ["breach_date", ({ breach }) => knownDay(breach.breachDate)],
  ["sensitive", ({ breach }) => (breach.isSensitive ? "yes" : "no")],
  ["exposed", ({ breach }) => breach.dataClasses.join("; ")],
  ["description", ({ breach }) => textOfHtml(breach.description)],
  ["first_detected_at", ({ firstDetectedAt }) => firstDetectedAt],
  ["last_seen_at", ({ lastSeenAt }) => lastSeenAt],
  ["history", ({ isHistory }) => (isHistory ? "yes" : "no")],
  ["stolen_logins", ({ stealerLogDomains }) => stealerLogDomains?.join("; ") ?? null],
  ["own_logins", ({ ownLogins }) => ownLogins?.join("; ") ?? null],
  ["owner_told_at", ({ ownerToldAt }) => ownerToldAt],
  ["state", ({ acknowledged }) => (acknowledged ? "acknowledged" : "open")],
  ["resolution", ({ resolution }) => resolution],
  ["reason", ({ acknowledgeReason }) => acknowledgeReason],
  ["ended_by_rule", ({ endedBy }) => endedBy?.rule ?? null],
  ["acknowledged_at", ({ acknowledgedAt }) => acknowledgedAt],
  [
    "acknowledged_by",
    ({ acknowledgedBy, acknowledgedByApiKey }) =>
      acknowledgedBy?.label ?? acknowledgedByApiKey?.label ?? null,
  ],
];

export const ExportFindings = ({ filters, onClose }: { filters: Filters; onClose: () => void }) => (
  <ExportDialog
    what="findings"
    columns={columns}
    pagesOf={(signal) =>
      allPages("findings", (page) =>
        call("GET /dashboard/findings", { query: { ...filters, ...page } }, { signal }),
      )
    }
    counted={(rows) => count(rows, "finding")}
    record={(rows, signal) =>
      call(
        "POST /dashboard/exports",
        { body: { list: "findings", filter: bodyOf(filters), rows } },
        { signal },
      )
    }
    onClose={onClose}
  />
);
