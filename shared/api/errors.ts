/**
 * Every refusal of the interface, by name: its status, its sentence and, where the contract names one, its code
 * (interface.md "Errors", decisions.md "Errors"). Thrown anywhere as `new Refusal("emailNotFound")`, answered once in serve.ts.
 */
export const refusals = {
  invalidInput: { status: 400, error: "The request is not valid" },
  noActiveEmails: { status: 400, error: "There are no active monitored emails on verified domains to scan" },
  domainNotVerified: { status: 400, error: "The email's domain is not verified" },
  seatAllowanceReached: {
    status: 400,
    error: "The seat allowance of the organization is used up",
    code: "seat_allowance_reached",
  },
  channelLimitReached: {
    status: 400,
    error: "The organization already has 20 alert channels",
    code: "channel_limit_reached",
  },
  nothingToImport: {
    status: 400,
    error: "Every address is already monitored, repeated or invalid: there is nothing to import",
    code: "nothing_to_import",
  },
  unauthenticated: { status: 401, error: "A valid API key or session is required" },
  trialExpired: { status: 402, error: "The organization's trial has expired", reason: "trial_expired" },
  subscriptionInactive: {
    status: 402,
    error: "The organization's subscription is not active",
    reason: "subscription_inactive",
  },
  priceNotRecognized: {
    status: 402,
    error: "The organization's subscription has a price that is not recognized",
    reason: "price_not_recognized",
  },
  collectionPaused: {
    status: 402,
    error: "Billing of the organization's subscription is paused; support must resume it",
    reason: "collection_paused",
  },
  foreignOrigin: {
    status: 403,
    error: "A request with a session cookie must come from the service's own origin",
  },
  notFound: { status: 404, error: "There is nothing at this path" },
  emailNotFound: { status: 404, error: "No monitored email of the organization has this id" },
  domainNotFound: { status: 404, error: "No domain of the organization has this id" },
  teamNotFound: { status: 404, error: "No team of the organization has this id" },
  findingNotFound: { status: 404, error: "No breach finding of the organization has this id" },
  channelNotFound: { status: 404, error: "No alert config of the organization has this id" },
  methodNotAllowed: { status: 405, error: "This path does not support this method" },
  emailAlreadyMonitored: { status: 409, error: "This email is already monitored" },
  scanInProgress: { status: 409, error: "A scan is already in progress" },
  quoteMismatch: {
    status: 409,
    error: "The import is not what a preview would give now: preview the file again and commit that",
    code: "quote_mismatch",
  },
  tooManyAddresses: { status: 413, error: "file: holds more than 500 addresses" },
  fileTooLarge: { status: 413, error: "file: is too large, more than 1 MiB" },
  tooLarge: { status: 413, error: "The request body is too large" },
  addressLimit: { status: 429, error: "Too many requests from this address" },
  keyLimit: { status: 429, error: "Too many requests with this API key" },
  organizationLimit: { status: 429, error: "The organization's hourly limit for this request is used up" },
  scanNotQueued: { status: 500, error: "The scan could not be queued" },
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

  /** `error` replaces the table's sentence where a more precise one helps; it must not hold a secret. */
  constructor(refusal: RefusalName, options: { error?: string; headers?: Record<string, string> } = {}) {
    super(options.error ?? refusals[refusal].error);
    this.refusal = refusal;
    this.headers = options.headers ?? {};
  }
}

/** Status and JSON body of a refusal. */
export const replyTo = (refusal: Refusal): { status: number; body: Record<string, string> } => {
  const { status, error: _, ...rest }: RefusalForm = refusals[refusal.refusal];
  return { status, body: { error: refusal.message, ...rest } };
};
