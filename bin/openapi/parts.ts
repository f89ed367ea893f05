/** What the OpenAPI documents say of the two parts of the API beside what the contracts say. */
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import type { Route } from "../../shared/contract/endpoint.ts";
import { perMinute, perMinuteOfEndpoint } from "../../shared/contract/limits.ts";

export type Part = {
  /** The first segment of its paths. */
  name: "v1" | "dashboard";
  title: string;
  description: string;
  routes: readonly Route[];
  /** By the first segment of a path below the part. */
  tags: Record<string, string>;
  /** The names of its security schemes. Any one will do. */
  security: readonly ("apiKey" | "session")[];
  /** Whether clients of others use it: its document then has examples, and what webhooks receive. */
  isPublic: boolean;
};

export const v1: Part = {
  name: "v1",
  title: "Breach Monitor",
  description: `Watches the e-mail addresses of an organization and tells in which data breaches they appear.

- Ids are positive integers below 2^53, unique across organizations and never reused. \
Times are ISO 8601 in UTC with milliseconds.
- Unknown fields of bodies and unknown query parameters are ignored, except where a schema forbids them. \
Wrong types are not coerced. A query parameter may be given once.
- Lists are ordered newest first. Filters combine with AND; unknown ids in filters give an empty list.
- Every error is JSON with a sentence for people in \`error\`; some have a \`code\` or \`reason\` for programs.
- An unknown path is 404; another method of a known path is 405 with \`Allow\`. \
A body of more than 10 MiB is 413 as plain text, without the headers of other replies: \
API Gateway refuses it before the service sees it.
- ${perMinute.address} requests a minute pass from one address, and ${perMinute.key} with one API key. \
Of a user with a session ${perMinuteOfEndpoint.v1} a minute pass to one endpoint, and ${perMinute.user} in all. \
Windows are fixed, aligned to the UTC minute or hour.
- What is checked first is answered first: address limit (429), authentication (401), \
limit of the key or user (429), origin (403), subscription (402), path and method (404, 405), \
input (400, 413), the organization's hourly limit (429), existence and state (404, 409, 400).`,
  routes,
  tags: {
    scans: "Looking for the monitored e-mails in known data breaches",
    activity: "What was done in the account",
    feed: "Everything that was recorded, for other systems",
    emails: "The addresses that are monitored, one by one or imported from a file",
    breaches: "Findings: appearances of monitored e-mails in data breaches",
    "alert-configs": "Channels that tell of new breaches and of scans: e-mail, Slack, webhook",
    events: "What webhook channels were told, in full",
    webhooks: "What the service sends to webhook channels",
  },
  security: ["apiKey", "session"],
  isPublic: true,
};

export const dashboard: Part = {
  name: "dashboard",
  title: "Breach Monitor: dashboard",
  description: `What the dashboard's page uses beside /api/v1, all of which a session may use too.

- Requests are from a user with a session, except those to sign in and of links in alerts, \
which look at no credential. An API key is refused (403).
- What is marked so needs the role \`admin\`: a member gets 403 with the code \`admin_only\`.
- Requests with a valid session count for their user: ${perMinute.user} a minute in all, \
those to /api/v1 and of other sessions among them, and ${perMinuteOfEndpoint.dashboard} to one endpoint. \
All others count ${perMinute.address} a minute for each address, apart from those to /api/v1.
- Ids, times, lists, errors and the order of checks are as in /api/v1; the role is checked after the subscription.`,
  routes: dashboardRoutes,
  tags: {
    "sign-in": "Getting a session, without a password",
    session: "The session that a request comes with",
    sessions: "All sessions and passkeys of the user",
    passkeys: "Passkeys of the user, to sign in with",
    exports: "Files that the page has made of lists",
    overview: "The state of the organization at a glance",
    findings: "Findings with whose address each is",
    breaches: "Breaches that the organization has findings of",
    directories: "Connected directories, which push their people by SCIM 2.0",
    rules: "Rules that end findings where nothing is left to do",
    organization: "The organization's settings",
    "api-keys": "API keys, for programs",
    domains: "Domains, proved by a DNS record",
    teams: "Teams that e-mails belong to",
    emails: "Whose e-mails are",
    unwatched: "Breached addresses of the organization's domains that nobody watches",
    members: "Users of the organization",
    "alert-configs": "Deliveries of alert channels",
    recipients: "What recipients of alerts by e-mail say, by their link",
  },
  security: ["session"],
  isPublic: false,
};
