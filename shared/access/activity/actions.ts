/** Every action that is logged, with the category under which clients can filter it. */
export const categoryOf = {
  "email.added": "monitoring",
  "email.removed": "monitoring",
  "email.enabled": "monitoring",
  "email.disabled": "monitoring",
  "email.updated": "monitoring",
  "emails.imported": "monitoring",
  "domain.added": "monitoring",
  "domain.verified": "monitoring",
  "domain.unverified": "monitoring",
  "domain.removed": "monitoring",
  "organization.updated": "monitoring",
  "scan.started": "monitoring",
  "scan.completed": "monitoring",
  "scan.failed": "monitoring",
  "finding.acknowledged": "findings",
  "findings.acknowledged": "findings",
  "findings.reopened": "findings",
  "alert_config.created": "alerts",
  "alert_config.updated": "alerts",
  "alert_config.deleted": "alerts",
  "team.created": "teams",
  "team.updated": "teams",
  "team.deleted": "teams",
  "member.invited": "teams",
  "member.updated": "teams",
  "member.removed": "teams",
  "api_key.created": "api_keys",
  "api_key.revoked": "api_keys",
} as const;

export type Action = keyof typeof categoryOf;
export type Category = (typeof categoryOf)[Action];
