import type { refusals } from "../../shared/contract/errors.ts";
import { partRefused, sentenceAbout } from "../text/problem.ts";

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
  /** The field of a form that the whole message is about. */
  readonly field: string | undefined;
  /** The whole answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, options: Partial<Failure> & { status: number }) {
    super(message);
    this.status = options.status;
    this.code = options.code;
    this.retryAt = options.retryAt;
    this.requestId = options.requestId;
    this.part = options.part;
    this.field = options.field;
    this.details = options.details ?? {};
  }
}

/** What people can do about a failure; undefined where the message says it. */
export function adviceFor({ message, status, code, retryAt }: Failure): string | undefined {
  if (code === "admin_only") return "Ask an admin of your organization: Settings, Members lists them.";
  if (code === "channel_disabled") return "Enable the channel first.";
  if (code === "delivery_in_progress") return "Wait a minute, and look at the deliveries again.";
  if (code === "last_admin") return "Make somebody else an admin first.";
  if (status === 0)
    return (
      "Check your connection, and try again. If that does not help, an extension of your browser " +
      "may be in the way."
    );
  if (status === 429 && retryAt !== undefined) {
    const time = new Date(retryAt).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    return `Try again after ${time}.`;
  }
  if (status >= 500 && !message.includes("try again")) return "Try again in a moment.";
  return undefined;
}

/** Whether the same request may succeed later. */
export const isPassing = ({ status }: Failure): boolean => status < 400 || status === 429 || status >= 500;

export type Sentence = (typeof refusals)[keyof typeof refusals]["error"];

/** Refusals that the API words for programmers, as the page says them. */
const inPageWords: { [S in Sentence]?: string } = {
  "There are no active monitored emails on verified domains: add one":
    "There is nothing to scan: no enabled address is at a verified domain.",
  "The email's domain is not verified: verify it first":
    "This domain is not verified yet. Prove under Domains that it is yours, then try again.",
  "The seat allowance of the organization is used up: disable or remove an email first":
    "All seats of your organization are taken. Disable an address to make room.",
  "This email is already monitored": "This address is already watched.",
  "The organization already has a member with this address": "This address belongs to a member already.",
  "The organization already has a domain of this name": "This domain is already there.",
  "Another organization has proved this domain, and its record is still there":
    "Another organization has proved this domain, and its record is still published.",
  "The organization already has a team of this name": "There is already a team of this name.",
  "The domain has monitored emails: remove them first": "The domain still has addresses: remove those first.",
  "The alert config is disabled": "The channel is disabled.",
  "An attempt of this delivery is in progress": "This alert is being sent at the moment.",
  "This link is of no recipient: open it as it stands in the e-mail":
    "This link does not work. Open it in the e-mail itself.",
  "No monitored email of the organization has this id":
    "This address is not watched here: it may have been removed.",
  "No breach finding of the organization has this id":
    "There is no such finding here: it may have been removed with its address.",
  "The organization has no finding and no unwatched address of a breach with this id":
    "Nobody here is in this breach.",
  "No alert config of the organization has this id":
    "There is no such channel here: it may have been deleted.",
  "No domain of the organization has this id": "There is no such domain here.",
  "No team of the organization has this id": "There is no such team here.",
  "No member of the organization has this id": "There is no such member here.",
  "No API key of the organization has this id": "There is no such API key here.",
  "No session of yours has this id": "This session has already ended.",
  "No delivery of this alert config has this id": "There is no such delivery here.",
  "No unwatched address of the organization has this id": "This address is no longer on the list.",
  "Too many changes at the same time: try again in a moment":
    "The service is busy at the moment: try again soon.",
};

/** Fields of forms by the refusals that are about them. */
const fieldsByRefusal: { [S in Sentence]?: string } = {
  "The email's domain is not verified: verify it first": "domainId",
  "This email is already monitored": "email",
  "The organization already has a member with this address": "email",
  "The organization already has a domain of this name": "name",
  "Another organization has proved this domain, and its record is still there": "name",
  "The organization already has a team of this name": "name",
};

/** Parts that people give outside of forms. */
const givenParts: Readonly<Record<string, string>> = { file: "The file", q: "The search" };

/** A refusal in words for people. */
export function wordsOf(error: string): {
  text: string;
  field?: string | undefined;
  part?: Failure["part"];
} {
  const part = partRefused(error);
  if (part !== undefined) {
    const given = givenParts[part.path];
    // Nobody has typed any other part that no field of a form shows, and nobody could mend it.
    const text = "The service does not take what this page has sent: reload the page, and try again.";
    return { text: given === undefined ? text : sentenceAbout(given, part.text), part };
  }
  const text = inPageWords[error as Sentence] ?? error;
  return { text: /[.!?]$/.test(text) ? text : `${text}.`, field: fieldsByRefusal[error as Sentence] };
}

/** Fields of forms by the names that the service has for them. */
const fieldsByName: Readonly<Record<string, string>> = {
  recipients: "destination",
  url: "destination",
  webhookUrl: "destination",
};

/** The field of a form that a failure is about, if it is one of these, and its problem. */
export function problemIn(
  failure: Failure | undefined,
  names: readonly string[],
): { name: string; text: string } | undefined {
  if (failure === undefined) return undefined;
  const { part, field = "", message, status } = failure;
  const last = part?.path.split(".").findLast((name) => !/^\d+$/.test(name)) ?? field;
  const name = names.includes(last) ? last : (fieldsByName[last] ?? "");
  if (names.includes(name)) return { name, text: part?.text ?? message };
  // Some sentences begin with the name of their field.
  const [first = ""] = message.split(" ", 1);
  return status === 400 && names.includes(first)
    ? { name: first, text: message.slice(first.length + 1) }
    : undefined;
}
