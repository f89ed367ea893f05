/** Items of the feed as events of the Open Cybersecurity Schema Framework 1.8.0 (https://schema.ocsf.io/1.8.0). */
import type { ActivityEntry } from "../../access/activity/activity-schema.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import type { ExportedFinding } from "../finding-schema.ts";
import type { NativeItem, OcsfEvent } from "./feed-schema.ts";

const product = { name: "Breach Monitor", vendor_name: "Breach Monitor" };

export const eventOf = (org: number, item: NativeItem): OcsfEvent =>
  item.type === "finding" ? detectionFinding(org, item.finding) : apiActivity(org, item.entry);

/** `uid` tells an event from all others of the deployment, so that a receiver can leave out what it has. */
const metadata = (org: number, uid: string) => ({
  version: "1.8.0",
  product,
  uid,
  tenant_uid: String(org),
});

const classOf = (class_uid: number, class_name: string, activity_id: number, activity_name: string) => ({
  class_uid,
  class_name,
  category_uid: Math.floor(class_uid / 1_000),
  activity_id,
  activity_name,
  type_uid: class_uid * 100 + activity_id,
  type_name: `${class_name}: ${activity_id === 99 ? "Other" : activity_name}`,
});

const severityOf: Record<Severity, { severity_id: number; severity: string }> = {
  critical: { severity_id: 5, severity: "Critical" },
  high: { severity_id: 4, severity: "High" },
  medium: { severity_id: 3, severity: "Medium" },
  low: { severity_id: 2, severity: "Low" },
};

const statusOf = ({ resolution, acknowledged }: ExportedFinding) => {
  if (!acknowledged) return { status_id: 1, status: "New" };
  return resolution === "ignored"
    ? { status_id: 3, status: "Suppressed" }
    : { status_id: 4, status: "Resolved" };
};

/** OCSF's addresses are of ASCII characters. Others are in `name` only. */
const addressPattern = /^[\w!#$%&'*+/=?^`{|}~.-]+@[a-z\d-]+\.[a-z\d.-]+$/i;

/** `email_addr` of a user, where the text is an address. */
const withAddress = (name: string) => ({ name, ...(addressPattern.test(name) && { email_addr: name }) });

const detectionFinding = (org: number, finding: ExportedFinding): OcsfEvent => {
  const { id, email, emailId, breach, severity, ownerName, team, acknowledgeReason } = finding;
  const { advice, title, dataClasses, description, ...details } = breach;
  const detectedAt = Date.parse(finding.firstDetectedAt);
  return {
    ...classOf(2004, "Detection Finding", 1, "Create"),
    ...severityOf[severity],
    ...statusOf(finding),
    category_name: "Findings",
    is_alert: true,
    message: `${email} is in the breach ${title}`,
    time: detectedAt,
    metadata: metadata(org, `finding-${id}`),
    finding_info: {
      uid: String(id),
      title: `${title}: ${email}`,
      desc: description,
      types: dataClasses,
      data_sources: ["Have I Been Pwned"],
      created_time: detectedAt,
      first_seen_time: detectedAt,
      last_seen_time: Date.parse(finding.lastSeenAt),
    },
    resources: [
      {
        uid: String(emailId),
        name: email,
        type: "E-mail address",
        owner: { ...withAddress(email), ...(ownerName !== null && { full_name: ownerName }) },
        ...(team !== null && { group: { uid: String(team.id), name: team.name } }),
      },
    ],
    observables: [{ name: "resources[].name", type_id: 5, type: "Email Address", value: email }],
    ...(advice.length > 0 && {
      remediation: { desc: advice.map(({ title, steps }) => [title, ...steps].join("\n")).join("\n\n") },
    }),
    ...(acknowledgeReason !== null && { comment: acknowledgeReason }),
    unmapped: {
      breach: details,
      firstDetectedScanId: finding.firstDetectedScanId,
      acknowledgedAt: finding.acknowledgedAt,
      acknowledgedBy: finding.acknowledgedBy,
      acknowledgedByApiKey: finding.acknowledgedByApiKey,
      resolution: finding.resolution,
      ...(finding.stealerLogDomains && { stealerLogDomains: finding.stealerLogDomains }),
    },
  };
};

/** What the verb at the end of an action does; others are 99, Other. */
const activities: readonly [id: number, name: string, verbs: RegExp][] = [
  [1, "Create", /\.(added|created|imported|invited|joined|started)$/],
  [2, "Read", /\.exported$/],
  [3, "Update", /\.(updated|enabled|disabled|verified|unverified|acknowledged|reopened)$/],
  [4, "Delete", /\.(removed|deleted|revoked)$/],
];

const actorOf = ({ type, label }: ActivityEntry["actor"]) =>
  type === "api_key" || type === "system" ? { app_name: label } : { user: withAddress(label) };

const apiActivity = (org: number, entry: ActivityEntry): OcsfEvent => {
  const { id, action, category, summary, actor, createdAt } = entry;
  const [activityId, name] = activities.find(([, , verbs]) => verbs.test(action)) ?? [99, action];
  const hasFailed = action.endsWith(".failed");
  return {
    ...classOf(6003, "API Activity", activityId, name),
    severity_id: 1,
    severity: "Informational",
    status_id: hasFailed ? 2 : 1,
    status: hasFailed ? "Failure" : "Success",
    category_name: "Application Activity",
    message: summary,
    time: Date.parse(createdAt),
    metadata: metadata(org, `activity-${id}`),
    actor: actorOf(actor),
    api: { operation: action, service: { name: product.name } },
    // The class requires where a request came from. The log keeps it of sign-ins alone, as a network in words.
    src_endpoint: { name: "not recorded" },
    unmapped: { category, actorType: actor.type },
  };
};
