/** interface.md "Activity entry": what is logged, and under which category. */
export const categoryOf = {
  "email.added": "monitoring",
  "email.removed": "monitoring",
  "email.enabled": "monitoring",
  "email.disabled": "monitoring",
  "emails.imported": "monitoring",
  "scan.started": "monitoring",
  "scan.completed": "monitoring",
  "scan.failed": "monitoring",
  "finding.acknowledged": "findings",
  "alert_config.created": "alerts",
  "alert_config.updated": "alerts",
  "alert_config.deleted": "alerts",
  "team.created": "teams",
  "api_key.created": "api_keys",
  "api_key.revoked": "api_keys",
} as const;

export type Action = keyof typeof categoryOf;
export type Category = (typeof categoryOf)[Action];
