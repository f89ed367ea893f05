/**
 * Requests per UTC minute that one source address, one API key and one session may make. An address has this many
 * of /api/v1 and as many of /api/dashboard; a session counts instead of its address, of /api/dashboard only.
 */
export const perMinute = { address: 100, key: 100, session: 300 } as const;

/** Sign-in links per UTC hour that may be asked for with one e-mail address. */
export const signInLinksPerHour = 5;

/**
 * Requests per UTC hour that an organization may make. Endpoints that name the same limit share its budget.
 */
export const organizationLimits = {
  scans: 10,
  importPreviews: 20,
  importCommits: 20,
  emailChanges: 60,
  emailAddsAndRemovals: 60,
  emailBulkChanges: 20,
  unwatchedChanges: 60,
  alertConfigWrites: 60,
  alertTests: 20,
  acknowledgements: 20,
  invitations: 60,
} as const;

export type OrganizationLimit = keyof typeof organizationLimits;

/** Which requests count against a limit, where not all do; a phrase for the OpenAPI document. */
export const countedRequests: Partial<Record<OrganizationLimit, string>> = {
  alertConfigWrites: "Slack or webhook writes that resolve a hostname",
};
