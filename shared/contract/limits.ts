/**
 * Requests per UTC minute of one source address, one API key, and one user with all sessions. An address has this many
 * of /api/v1 and as many of /api/dashboard. There a user counts instead of the address, in /api/v1 beside it.
 */
export const perMinute = { address: 100, key: 100, user: 300 } as const;

/** Requests per UTC minute of a directory (Entra asks for 25 a second), and wrong tokens of a source address. */
export const perMinuteOfDirectories = { directory: 1500, wrongTokens: 100 } as const;

/** Of these, requests that a user may make to one endpoint, by the part of the API. */
export const perMinuteOfEndpoint = { v1: 100, dashboard: 50 } as const;

/** How many keys or users it takes to use up what API Gateway lets through to an endpoint (lib/throttle.ts). */
export const fairShare = 5;

/** Sign-in links per UTC hour that may be asked for with one e-mail address. */
export const signInLinksPerHour = 5;

/**
 * In a UTC day: passkeys that a user may add, and alert channels that an organization may add or send
 * elsewhere. The user, or the admins, are told of each by e-mail.
 */
export const perDay = { passkeys: 20, channels: 100 } as const;

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
  /** These and changes of members are told to admins by e-mail. */
  apiKeys: 20,
  memberChanges: 60,
} as const;

export type OrganizationLimit = keyof typeof organizationLimits;

/** Which requests count against a limit, where not all do; a phrase for the OpenAPI document. */
export const countedRequests: Partial<Record<OrganizationLimit, string>> = {
  alertConfigWrites: "Slack or webhook writes that resolve a hostname",
};
