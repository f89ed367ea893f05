/** What the dashboard shows of an organization, its users, sessions, API keys and teams. */
import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { nameOf, time, timestamp } from "../../contract/text.ts";
import { billingInterval, billingStatus } from "../billing/billing-schema.ts";

export const role = z.enum(["admin", "member"]).check(
  z.meta({
    description:
      "A `member` may do everything but manage the organization, its keys, domains, teams and members",
  }),
);
export type Role = z.infer<typeof role>;

export const organizationName = nameOf(100);
export const personName = nameOf(200);
/** Keys of the table hold it in the form that it is compared in (monitoring/teams/team.ts), and have 1,024 bytes. */
export const teamName = nameOf(100).check(
  z.refine(
    (name) => name.normalize("NFKC").length <= 300,
    "must have fewer symbols that stand for several characters",
  ),
  z.meta({ examples: ["Finance"] }),
);
export const keyLabel = nameOf(100);
export const keyAccess = z.enum(["full", "read"]).check(
  z.meta({
    description:
      "`full`: all that the organization may do below `/api/v1`; `read`: GET alone, 403 on anything else",
  }),
);
export const keyEnd = time.check(
  z.refine((end) => Date.parse(end) > Date.now(), "must be in the future"),
  z.meta({ description: "From this instant on the key is refused, as a revoked one is" }),
);

export const scanFrequency = z
  .enum(["day", "week", "never"])
  .check(z.meta({ description: "How often the service scans by itself, besides after each new breach" }));

/** `Intl` takes offsets such as +02:00 too, which know no summer time. */
const isTimeZone = (name: string): boolean => {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
};

export const timeZone = z.string().check(
  z.maxLength(100),
  z.refine(isTimeZone, "must be a time zone of IANA's, such as Europe/Berlin"),
  z.meta({
    description: "By IANA's name; alerts of a day or week go at 07:00 there",
    examples: ["Europe/Berlin"],
  }),
);

const lapsedReason = z
  .nullable(z.enum(["trial_expired", "subscription_inactive", "price_not_recognized", "collection_paused"]))
  .check(z.meta({ description: "Why the organization is not served; null while it is" }));

export type LapsedReason = z.infer<typeof lapsedReason>;

export const sessionBilling = z.object({ status: billingStatus, reason: lapsedReason });

export const organization = z
  .object({
    id: idField,
    name: z.string(),
    scanEvery: scanFrequency,
    nextScanAt: z.nullable(timestamp).check(
      z.meta({
        description:
          "When the next scheduled scan begins, up to 15 minutes later; null when none is scheduled",
      }),
    ),
    timeZone: z.string().check(z.meta({ examples: ["Europe/Berlin"] })),
    billing: z.object({
      status: billingStatus,
      reason: lapsedReason,
      trialEndsAt: z.nullable(timestamp),
      interval: billingInterval,
      seatPriceCents: count,
      seatAllowance: z
        .nullable(count)
        .check(z.meta({ description: "How many e-mails may be active; null: any number" })),
      activeCount: count.check(z.meta({ description: "How many e-mails are active" })),
    }),
  })
  .check(z.meta({ id: "Organization" }));

/** The signed-in user. */
export const sessionUser = z
  .object({ id: idField, email: z.string(), name: z.nullable(z.string()), role })
  .check(z.meta({ id: "SessionUser" }));

export const member = z
  .object({
    id: idField,
    email: z.string(),
    name: z.nullable(z.string()),
    role,
    createdAt: timestamp,
    invitedAt: z
      .nullable(timestamp)
      .check(z.meta({ description: "When an invitation was last sent; null: none was" })),
    joinedAt: z.nullable(timestamp).check(z.meta({ description: "The first sign-in; null: none yet" })),
    lastSignInAt: z.nullable(timestamp),
    hasIdentity: z.boolean().check(
      z.meta({
        description:
          "Whether an account at the identity provider has signed in as the member: no other " +
          "does until an admin forgets it",
      }),
    ),
  })
  .check(z.meta({ id: "Member" }));
export type Member = z.infer<typeof member>;

export const session = z
  .object({
    id: idField,
    createdAt: timestamp,
    lastUsedAt: timestamp.check(z.meta({ description: "Exact to the hour" })),
    expiresAt: timestamp.check(
      z.meta({
        description:
          "30 days after it was created, or as many hours as operators have set for the " +
          "organization; or 7 days after it was last used if that is earlier",
      }),
    ),
    isCurrent: z.boolean().check(z.meta({ description: "Whether this request came with it" })),
    createdBy: z
      .enum(["user", "operator"])
      .check(
        z.meta({ description: "`operator`: not by signing in, but by an operator with the command line" }),
      ),
    browser: z.optional(z.string()).check(
      z.meta({
        description: "Where the user signed in, as far as the browser said so",
        examples: ["Firefox on Windows"],
      }),
    ),
  })
  .check(z.meta({ id: "Session" }));

export const passkey = z
  .object({
    id: z.string().check(z.meta({ description: "As the authenticator has chosen it" })),
    createdAt: timestamp,
    lastUsedAt: z.nullable(timestamp),
    browser: z.optional(z.string()).check(z.meta({ description: "Where the user added it" })),
  })
  .check(z.meta({ id: "Passkey" }));

export const apiKey = z
  .object({
    id: idField,
    label: z.string(),
    preview: z.string().check(z.meta({ description: "How the key begins; the key itself is not stored" })),
    createdAt: timestamp,
    createdBy: z
      .nullable(z.object({ id: idField, label: z.string() }))
      .check(z.meta({ description: "The user who created it; null when the command line did" })),
    lastUsedAt: z.nullable(timestamp).check(z.meta({ description: "Exact to the hour" })),
    access: keyAccess,
    expiresAt: z
      .nullable(timestamp)
      .check(z.meta({ description: "From this instant on the key is refused; null: it does not end" })),
    revokedAt: z.nullable(timestamp),
  })
  .check(z.meta({ id: "ApiKey" }));

export const team = z
  .object({
    id: idField,
    name: z.string(),
    emailCount: count,
    breachedEmailCount: count.check(
      z.meta({ description: "How many of its e-mails have an open finding, disabled ones included" }),
    ),
  })
  .check(z.meta({ id: "Team" }));
