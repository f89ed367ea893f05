/** A request that did not succeed, in words for whoever made it. */
export class Failure extends Error {
  override name = "Failure";
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string | undefined;
  /** Unix milliseconds from which on the request may succeed. */
  readonly retryAt: number | undefined;
  readonly requestId: string | undefined;
  /** The whole answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    options: {
      status: number;
      code?: string | undefined;
      retryAt?: number | undefined;
      requestId?: string | undefined;
      details?: Record<string, unknown>;
    },
  ) {
    super(message);
    this.status = options.status;
    this.code = options.code;
    this.retryAt = options.retryAt;
    this.requestId = options.requestId;
    this.details = options.details ?? {};
  }
}

/** What people can do about a failure; undefined where the message says it. */
export function adviceFor({ status, code, retryAt }: Failure): string | undefined {
  if (code === "admin_only") return "Ask an admin of your organization; Settings, Members lists them.";
  if (code === "acknowledgement_in_progress") return "Wait until it is done, and try again.";
  if (code === "channel_disabled") return "Enable the channel first.";
  if (code === "delivery_in_progress") return "Wait a minute, and look at the deliveries again.";
  if (code === "last_admin") return "Make somebody else an admin first.";
  if (status === 0) return "Check your connection, and try again.";
  if (status === 404) return "Somebody may have removed it. Load the page again to see what is there.";
  if (status === 429 && retryAt !== undefined) {
    const time = new Date(retryAt).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    return `Try again after ${time}.`;
  }
  if (status >= 500) return "Try again in a moment.";
  return undefined;
}
