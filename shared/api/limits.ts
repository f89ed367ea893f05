/** Fixed windows, aligned to the UTC minute or hour (interface.md "Limits", decisions.md "Limits"). */
export const perMinute = { address: 100, key: 100 } as const;

/** Hourly budgets of an organization; endpoints that name the same bucket share it. */
export const organizationLimits = {
  scans: 10,
  importPreviews: 20,
  importCommits: 20,
  emailChanges: 60,
  emailAddsAndRemovals: 60,
  alertConfigWrites: 60,
} as const;

export type OrganizationLimit = keyof typeof organizationLimits;
