/**
 * Every refusal of the API by name: HTTP status, sentence for people and, for some, a `code` or `reason` for
 * programs. Any module may throw `new Refusal("emailNotFound")`; api/answer.ts turns it into the reply.
 */
export const refusals = {
  invalidInput: { status: 400, error: "The request is not valid" },
  noActiveEmails: { status: 400, error: "There are no active monitored emails on verified domains: add one" },
  domainNotVerified: { status: 400, error: "The email's domain is not verified: verify it first" },
  seatAllowanceReached: {
    status: 400,
    error: "The seat allowance of the organization is used up: disable or remove an email first",
    code: "seat_allowance_reached",
  },
  channelLimitReached: {
    status: 400,
    error: "The organization already has 20 alert channels: delete one first",
    code: "channel_limit_reached",
  },
  directoryNotFound: { status: 404, error: "Directory not found" },
  directoryLimitReached: {
    status: 409,
    error: "The organization already has 5 directories: disconnect one first",
    code: "directory_limit_reached",
  },
  /** Of SCIM alone, which gives errors its own form (people/scim). */
  userNameTaken: { status: 409, error: "userName: another user of the directory has it" },
  groupNameTaken: { status: 409, error: "displayName: another group of the directory has it" },
  nothingToImport: {
    status: 400,
    error: "Every address is already monitored, repeated or invalid: there is nothing to import",
    code: "nothing_to_import",
  },
  passkeyLimitReached: {
    status: 400,
    error: "You already have 10 passkeys: remove one first",
    code: "passkey_limit_reached",
  },
  domainNotAllowed: {
    status: 400,
    error: "name: is a public suffix or a provider of mailboxes, which nobody can prove",
  },
  unauthenticated: { status: 401, error: "A valid API key or session is required" },
  invalidLink: {
    status: 401,
    error: "This sign-in link is not valid any more: ask for a new one",
    code: "invalid_link",
  },
  providerRefused: {
    status: 401,
    error: "The identity provider refused to sign you in",
    code: "provider_refused",
  },
  attemptUnknown: {
    status: 401,
    error: "This attempt was not started in this browser, was used already or took too long: start again",
    code: "attempt_unknown",
  },
  identityExpired: {
    status: 401,
    error: "The identity provider's answer has expired: start again. If that does not help, a clock is wrong",
    code: "identity_expired",
  },
  identityForeign: {
    status: 401,
    error:
      "The answer is of another identity provider or for another service: tell the operator of this service",
    code: "identity_foreign",
  },
  passkeyUnknown: {
    status: 401,
    error: "This passkey is not known here, or was removed: sign in another way",
    code: "passkey_unknown",
  },
  passkeyRefused: {
    status: 401,
    error:
      "The passkey's answer is not valid here: start again on the page of this service, or go another way",
    code: "passkey_refused",
  },
  trialExpired: { status: 402, error: "The trial has expired: subscribe to go on", reason: "trial_expired" },
  subscriptionInactive: {
    status: 402,
    error: "The organization's subscription is not active: renew it",
    reason: "subscription_inactive",
  },
  priceNotRecognized: {
    status: 402,
    error: "The organization's subscription has a price that is not recognized: tell the operator",
    reason: "price_not_recognized",
  },
  collectionPaused: {
    status: 402,
    error: "Billing of the organization's subscription is paused; support must resume it",
    reason: "collection_paused",
  },
  foreignOrigin: {
    status: 403,
    error: "A request that may change something must come from the service's own origin",
  },
  readOnlyKey: {
    status: 403,
    error: "This API key only reads: use one with full access to change something",
    code: "read_only_key",
  },
  sessionRequired: { status: 403, error: "The dashboard takes sessions of users, not API keys" },
  adminOnly: {
    status: 403,
    error: "Only an admin of the organization may do this",
    code: "admin_only",
  },
  providerRequired: {
    status: 403,
    error: "The organization wants its people to sign in by its identity provider",
    code: "provider_required",
  },
  addressUnverified: {
    status: 403,
    error: "The identity provider does not vouch for an e-mail address of yours",
    code: "address_unverified",
  },
  claimRequired: {
    status: 403,
    error:
      "Your account at the identity provider is none of those that may sign in here: choose " +
      "another one, or ask the operator",
    code: "claim_required",
  },
  userUnknown: {
    status: 403,
    error:
      "Nobody here has the e-mail address of your account at the identity provider: ask an admin to invite you",
    code: "user_unknown",
  },
  identityChanged: {
    status: 403,
    error:
      "Another account at the identity provider signs in with this address: an admin can let " +
      "yours in, under Settings, Members",
    code: "identity_changed",
  },
  notFound: { status: 404, error: "There is nothing at this path" },
  noProvider: { status: 404, error: "No identity provider is set up here" },
  emailNotFound: { status: 404, error: "No monitored email of the organization has this id" },
  unwatchedNotFound: { status: 404, error: "No unwatched address of the organization has this id" },
  domainNotFound: { status: 404, error: "No domain of the organization has this id" },
  recipientLinkInvalid: {
    status: 404,
    error: "This link is of no recipient: open it as it stands in the e-mail",
  },
  teamNotFound: { status: 404, error: "No team of the organization has this id" },
  scanNotFound: {
    status: 404,
    error: "No scan of the organization of the last 365 days has this id",
  },
  ruleNotFound: { status: 404, error: "No rule has this id" },
  findingNotFound: { status: 404, error: "No breach finding of the organization has this id" },
  breachNotFound: {
    status: 404,
    error: "The organization has no finding and no unwatched address of a breach with this id",
  },
  acknowledgementNotFound: {
    status: 404,
    error: "No request of the organization to acknowledge many findings has this id",
  },
  reopeningNotFound: {
    status: 404,
    error: "No request of the organization to reopen many findings has this id",
  },
  channelNotFound: { status: 404, error: "No alert config of the organization has this id" },
  eventNotFound: { status: 404, error: "No event of the organization has this id" },
  sessionNotFound: { status: 404, error: "No session of yours has this id" },
  apiKeyNotFound: { status: 404, error: "No API key of the organization has this id" },
  memberNotFound: { status: 404, error: "No member of the organization has this id" },
  deliveryNotFound: { status: 404, error: "No delivery of this alert config has this id" },
  methodNotAllowed: { status: 405, error: "This path does not support this method" },
  emailAlreadyMonitored: { status: 409, error: "This email is already monitored" },
  scanInProgress: { status: 409, error: "A scan is already in progress: wait until it has ended" },
  chooseOrganization: {
    status: 409,
    error: "This address is a user of several organizations: choose one",
    code: "choose_organization",
  },
  memberExists: {
    status: 409,
    error: "The organization already has a member with this address",
    code: "member_exists",
  },
  memberJoined: {
    status: 409,
    error: "The member has signed in already and needs no invitation",
    code: "member_joined",
  },
  lastAdmin: {
    status: 409,
    error: "The last admin of the organization can be neither removed nor made a member",
    code: "last_admin",
  },
  domainExists: {
    status: 409,
    error: "The organization already has a domain of this name",
    code: "domain_exists",
  },
  domainTaken: {
    status: 409,
    error: "Another organization has proved this domain, and its record is still there",
    code: "domain_taken",
  },
  domainInUse: {
    status: 409,
    error: "The domain has monitored emails: remove them first",
    code: "domain_in_use",
  },
  teamExists: {
    status: 409,
    error: "The organization already has a team of this name",
    code: "team_exists",
  },
  deliveryInProgress: {
    status: 409,
    error: "An attempt of this delivery is in progress",
    code: "delivery_in_progress",
  },
  channelDisabled: { status: 409, error: "The alert config is disabled", code: "channel_disabled" },
  assigneeChanged: {
    status: 409,
    error: "Somebody else was assigned to this breach meanwhile",
    code: "assignee_changed",
  },
  acknowledgementInProgress: {
    status: 409,
    error: "Findings are being acknowledged or reopened: wait until that has ended, then ask again",
    code: "acknowledgement_in_progress",
  },
  quoteMismatch: {
    status: 409,
    error: "The import is not what a preview would give now: preview the file again and commit that",
    code: "quote_mismatch",
  },
  tooManyAddresses: { status: 413, error: "file: holds more than 500 addresses: split it" },
  fileTooLarge: { status: 413, error: "file: is too large, more than 1 MiB: split it" },
  tooLarge: { status: 413, error: "The request body is too large, more than 1 MiB" },
  idempotencyKeyReused: { status: 422, error: "Idempotency-Key: another request has used it: send another" },
  addressLimit: { status: 429, error: "Too many requests from this address" },
  keyLimit: { status: 429, error: "Too many requests with this API key" },
  userLimit: { status: 429, error: "Too many requests by this user" },
  passkeysOfDay: { status: 429, error: "Too many passkeys were added today" },
  channelsOfDay: { status: 429, error: "Too many alert channels were added or sent elsewhere today" },
  signInLimit: { status: 429, error: "Too many sign-in links were asked for this address" },
  organizationLimit: { status: 429, error: "The organization's hourly limit for this request is used up" },
  scanNotQueued: { status: 500, error: "The scan could not be queued: try again" },
  busy: { status: 503, error: "Too many changes at the same time: try again in a moment" },
  providerUnavailable: {
    status: 503,
    error: "The identity provider cannot be reached",
    code: "provider_unavailable",
  },
  providerSlow: {
    status: 503,
    error: "The identity provider did not answer in time",
    code: "provider_slow",
  },
  providerMalformed: {
    status: 503,
    error:
      "The identity provider's answer is not as OpenID Connect asks for: tell the operator of this service",
    code: "provider_malformed",
  },
  newerVersion: { status: 503, error: "The service is being updated: try again in a few minutes" },
  dnsUnavailable: { status: 503, error: "DNS does not answer at the moment: try again later" },
} as const satisfies Record<string, RefusalForm>;

type RefusalForm = {
  status: number;
  error: string;
  code?: string;
  reason?: string;
};

export type RefusalName = keyof typeof refusals;

export class Refusal extends Error {
  override name = "Refusal";
  readonly refusal: RefusalName;
  readonly headers: Record<string, string>;
  readonly details: Record<string, unknown>;

  /**
   * `error` replaces the sentence of `refusals`; `details` are further fields of the reply. Clients see both,
   * and the log has `cause`, so that none may hold a secret.
   */
  constructor(
    refusal: RefusalName,
    options: {
      error?: string;
      headers?: Record<string, string>;
      details?: Record<string, unknown>;
      cause?: string;
    } = {},
  ) {
    super(options.error ?? refusals[refusal].error, { cause: options.cause });
    this.refusal = refusal;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }
}

/** Status and JSON body of a refusal. */
export const replyTo = (refusal: Refusal): { status: number; body: Record<string, unknown> } => {
  const { status, error: _, ...rest }: RefusalForm = refusals[refusal.refusal];
  return { status, body: { error: refusal.message, ...rest, ...refusal.details } };
};
