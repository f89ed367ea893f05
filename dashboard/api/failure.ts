/** A request that did not succeed, in words for whoever made it. */
export class Failure extends Error {
  override name = "Failure";
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string | undefined;
  /** Unix milliseconds from which on the request may succeed. */
  readonly retryAt: number | undefined;
  readonly requestId: string | undefined;
  /** The part of the request that was refused, and what was said of it. */
  readonly part: { path: string; text: string } | undefined;
  /** The whole answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    options: {
      status: number;
      code?: string | undefined;
      retryAt?: number | undefined;
      requestId?: string | undefined;
      part?: { path: string; text: string } | undefined;
      details?: Record<string, unknown>;
    },
  ) {
    super(message);
    this.status = options.status;
    this.code = options.code;
    this.retryAt = options.retryAt;
    this.requestId = options.requestId;
    this.part = options.part;
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

/** What the page itself refuses about a field of a form. */
export const refusedAt = (path: string, text: string): Failure =>
  new Failure(text, { status: 400, part: { path, text } });

/** Fields of forms by the names that the service has for them, and by the codes of refusals that are about one. */
const fieldOf: Readonly<Record<string, string>> = {
  recipients: "destination",
  url: "destination",
  webhookUrl: "destination",
  team_exists: "name",
  domain_exists: "name",
  domain_taken: "name",
  member_exists: "email",
};

/** The field of a form that a failure is about, if it is one of these, and what is wrong with it. */
export function problemIn(
  failure: Failure | undefined,
  names: readonly string[],
): { name: string; text: string } | undefined {
  if (failure === undefined) return undefined;
  const { part, code = "", message } = failure;
  const last = part?.path.split(".").findLast((name) => !/^\d+$/.test(name)) ?? code;
  const name = names.includes(last) ? last : (fieldOf[last] ?? "");
  if (names.includes(name)) return { name, text: part?.text ?? message };
  // Some sentences begin with the name of their field.
  const [first = ""] = message.split(" ", 1);
  return failure.status === 400 && names.includes(first)
    ? { name: first, text: message.slice(first.length + 1) }
    : undefined;
}
