import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod/mini";
import * as channels from "../../shared/alerts/channel.ts";
import {
  type Delivery,
  type DeliveryStatus,
  deliveries,
  deliveryStatuses,
} from "../../shared/alerts/delivery.ts";
import * as operator from "../../shared/alerts/operator.ts";
import { text } from "../../shared/api/text.ts";
import { valid } from "../../shared/api/valid.ts";
import { lapse, withStatus } from "../../shared/billing/billing.ts";
import { type Billing, billingInterval, billingStatus } from "../../shared/billing/schema.ts";
import { domainOf, emailAddress } from "../../shared/emails/schema.ts";
import { importAll } from "../../shared/imports/commit.ts";
import { importedAddress } from "../../shared/imports/schema.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as apiKeys from "../../shared/organizations/api-key.ts";
import * as deletion from "../../shared/organizations/deletion.ts";
import * as domains from "../../shared/organizations/domain.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { schedule, unschedule } from "../../shared/organizations/scan-schedule.ts";
import * as sessions from "../../shared/organizations/session.ts";
import * as teams from "../../shared/organizations/team.ts";
import * as users from "../../shared/organizations/user.ts";
import * as scans from "../../shared/scans/scan.ts";
import { type Scan, scanStatus } from "../../shared/scans/schema.ts";
import { checkOrganization, isWrong, printReport } from "./check.ts";
import type { Stack } from "./connect.ts";
import { CommandError } from "./error.ts";
import { printPage } from "./print.ts";

/** Whether it must be given, and how its value is written in the help · switch: without a value. */
type FlagKind = `required ${string}` | `optional ${string}` | "switch";

export type Command = {
  /** One sentence for people. */
  about: string;
  flags: Record<string, FlagKind>;
  run: (flags: Record<string, string>, stack: Stack) => Promise<Record<string, unknown>>;
  /** The result for people, when it is neither a thing nor a list. */
  print?: (result: never) => string;
  /** Whether the exit status says that something is wrong. */
  isWrong?: (result: never) => boolean;
};

const defaultSeatPriceCents = 100;

const scanFrequency = z.enum(["day", "week", "never"]);

/** interface.md "States and transitions" has them with a space. */
const labelOf = (status: DeliveryStatus): string => status.replace("_", " ");

/** As a flag takes it: without a space to quote. */
const flagOf = (status: DeliveryStatus): string => status.replace("_", "-");
const deliveryStatus = z.enum(deliveryStatuses.map(flagOf));

const domainName = z
  .string()
  .check(
    z.trim(),
    z.toLowerCase(),
    z.maxLength(253),
    z.regex(
      /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
      "must be a domain name",
    ),
  );

/** Parses a flag; the error names it. */
const parsed = <S extends z.ZodMiniType>(flag: string, schema: S, value: unknown): z.output<S> => {
  const { data, problem } = valid(schema, value);
  if (problem === undefined) return data;
  throw new CommandError(`--${flag}: ${problem.message}.`);
};

const number = (flag: string, value: string | undefined, minimum = 0, maximum?: number): number =>
  parsed(
    flag,
    z
      .pipe(z.string().check(z.regex(/^\d+$/, "must be a whole number")), z.transform(Number))
      .check(
        z.refine(
          (parsedNumber) =>
            Number.isSafeInteger(parsedNumber) &&
            parsedNumber >= minimum &&
            parsedNumber <= (maximum ?? parsedNumber),
          maximum === undefined ? "is out of range" : `must be from ${minimum} to ${maximum}`,
        ),
      ),
    value,
  );

const name = (flag: string, value: string | undefined): string =>
  parsed(flag, text(200).check(z.refine((given) => given.trim() !== "", "must not be empty")), value);

/** In the form of every stored time, UTC with milliseconds: they are compared as strings. */
const instant = (flag: string, value: string | undefined): string =>
  parsed(
    flag,
    z.pipe(
      z.iso.datetime({ offset: true, message: "must be an ISO 8601 time such as 2030-01-31T00:00:00Z" }),
      z.transform((given: string) => new Date(given).toISOString()),
    ),
    value,
  );

/** What the flags say of the billing's terms. */
const terms = (flags: Record<string, string>): Partial<Billing> => ({
  ...(flags["trial-ends"] !== undefined && { trialEndsAt: instant("trial-ends", flags["trial-ends"]) }),
  ...(flags["seat-allowance"] !== undefined && { seatAllowance: seatAllowance(flags["seat-allowance"]) }),
});

const seatAllowance = (value: string): number | null =>
  value === "none" ? null : number("seat-allowance", value);

/** Values that a flag takes, as the help writes them. */
const oneOf = ({ options }: { options: readonly string[] }): string => options.join("|");

/** The organization that a command works on. */
const organizationOf = async (flags: Record<string, string>): Promise<organizations.Organization> => {
  const id = number("org", flags.org, 1);
  const organization = await organizations.get(id);
  if (organization === undefined || organization.deleting === true) throw noOrganization(id);
  return organization;
};

const noOrganization = (id: number): CommandError =>
  new CommandError(`There is no organization ${id}: "org list" shows those that there are.`);

const idOf = (flag: string, flags: Record<string, string>): number => number(flag, flags[flag], 1);

const defaultPage = 100;
const longestPage = 1000;

/** The page of a list that the flags ask for. */
const pageOf = ({ limit, offset }: Record<string, string>): { limit: number; offset: number } => ({
  limit: limit === undefined ? defaultPage : number("limit", limit, 1, longestPage),
  offset: offset === undefined ? 0 : number("offset", offset),
});

/** Where the next page begins; nothing on the last. */
const next = ({ limit, offset }: { limit: number; offset: number }, hasMore: boolean) =>
  hasMore ? { nextOffset: offset + limit } : {};

// The table gives a row's attributes in no fixed order; people see them in this one.

const organizationForm = (organization: organizations.Organization) => {
  const { id, name: organizationName, createdAt, billing, scanEvery } = organization;
  return { id, name: organizationName, createdAt, billing: billingForm(billing), scanEvery };
};

/** One of a list. */
const organizationLine = (organization: organizations.Organization) => {
  const { id, name: organizationName, createdAt, billing } = organization;
  const { status: billingStatus, trialEndsAt } = billing;
  return { id, name: organizationName, createdAt, billingStatus, trialEndsAt };
};

const billingForm = ({ status, trialEndsAt, interval, seatPriceCents, seatAllowance }: Billing): Billing => ({
  status,
  trialEndsAt,
  interval,
  seatPriceCents,
  seatAllowance,
});

const teamForm = ({ id, name: teamName, createdAt }: teams.Team) => ({ id, name: teamName, createdAt });

const userForm = (user: users.User) => {
  const { id, email, name: userName, createdAt } = user;
  return { id, email, name: userName, createdAt };
};

/** One of a list. */
const sessionLine = ({ id, userId, userLabel, createdAt, expiresAt }: sessions.Session) => ({
  id,
  userId,
  email: userLabel,
  createdAt,
  expiresAt: new Date(expiresAt * 1000).toISOString(),
});

/** One of a list: how far it is, and why it failed. */
const scanLine = (scan: Scan) => {
  const { id, type, status, scannedEmails, totalEmails, newBreachesFound, createdAt, completedAt } = scan;
  return {
    id,
    type,
    status,
    scannedEmails,
    totalEmails,
    newBreachesFound,
    createdAt,
    completedAt,
    errorMessage: scan.errorMessage,
  };
};

const domainForm = (domain: domains.Domain) => {
  const { id, name: domainName, verified, createdAt } = domain;
  return { id, name: domainName, verified, createdAt };
};

const unknown = (noun: string, id: number): CommandError =>
  new CommandError(`The organization has no ${noun} ${id}.`);

/** Runs a change of a row that must be there. */
const changing = async (noun: string, id: number, change: Promise<void>): Promise<void> => {
  try {
    await change;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionFailed") throw unknown(noun, id);
    throw error;
  }
};

const verification = (verified: boolean, about: string): Command => ({
  about,
  flags: { org: "required ID", domain: "required ID" },
  run: async (flags) => {
    const { id: org } = await organizationOf(flags);
    const id = idOf("domain", flags);
    await changing("domain", id, domains.setVerified(org, id, verified));
    return { id, verified };
  },
});

/** Every command, by noun and verb. */
export const commands: Record<string, Command> = {
  "org create": {
    about:
      "Creates an organization, paid, billed monthly and scanned daily unless the flags say otherwise; a trial ends after 14 days and has 25 seats.",
    flags: {
      name: "required NAME",
      billing: `optional ${oneOf(billingStatus)}`,
      "trial-ends": "optional 2030-01-31T00:00:00Z",
      interval: `optional ${oneOf(billingInterval)}`,
      "seat-price-cents": "optional N",
      "seat-allowance": "optional N|none",
      "scan-every": `optional ${oneOf(scanFrequency)}`,
    },
    run: async (flags, stack) => {
      const paid: Billing = {
        status: "active",
        trialEndsAt: null,
        interval: parsed("interval", billingInterval, flags.interval ?? "month"),
        seatPriceCents:
          flags["seat-price-cents"] === undefined
            ? defaultSeatPriceCents
            : number("seat-price-cents", flags["seat-price-cents"]),
        seatAllowance: null,
      };
      const status = parsed("billing", billingStatus, flags.billing ?? "active");
      const organization = await organizations.create({
        name: name("name", flags.name),
        billing: { ...withStatus(paid, status, new Date()), ...terms(flags) },
        scanEvery: parsed("scan-every", scanFrequency, flags["scan-every"] ?? "day"),
      });
      try {
        await schedule(organization.id, organization.scanEvery, stack.outputs);
      } catch (error) {
        throw new CommandError(
          `Organization ${organization.id} was created, but its scans could not be scheduled (${(error as Error).name}): run scan schedule --org ${organization.id} --every ${organization.scanEvery}.`,
        );
      }
      return organizationForm(organization);
    },
  },
  "org list": {
    about: "Lists all organizations, newest first.",
    flags: {},
    run: async () => ({ organizations: (await organizations.list()).map(organizationLine).reverse() }),
  },
  "org show": {
    about: "Shows an organization.",
    flags: { org: "required ID" },
    run: async (flags) => organizationForm(await organizationOf(flags)),
  },
  "org delete": {
    about: "Deletes an organization with all that is of it, for good; --name is its name.",
    flags: { org: "required ID", name: "required NAME" },
    run: async (flags, stack) => {
      const org = idOf("org", flags);
      // One that is being deleted may be deleted again: what was cut off of its begin is done.
      const organization = await organizations.get(org);
      if (organization === undefined) throw noOrganization(org);
      if (flags.name !== organization.name) {
        throw new CommandError(
          `--name must be the name of organization ${org}, as "org show --org ${org}" prints it: all of it is deleted for good.`,
        );
      }
      if ((await deletion.begin(org)) === "unknown") throw noOrganization(org);
      await unschedule(org, stack.outputs);
      return { id: org, deleting: true };
    },
  },
  "org billing": {
    about: "Sets the subscription's state; a seat allowance ends with a trial unless another is given.",
    flags: {
      org: "required ID",
      status: `required ${oneOf(billingStatus)}`,
      "trial-ends": "optional 2030-01-31T00:00:00Z",
      "seat-allowance": "optional N|none",
    },
    run: async (flags) => {
      const { id, billing } = await organizationOf(flags);
      const status = parsed("status", billingStatus, flags.status);
      const changed = { ...withStatus(billing, status, new Date()), ...terms(flags) };
      await organizations.setBilling(id, changed);
      return { id, billing: billingForm(changed) };
    },
  },
  "domain add": {
    about: "Adds a domain; addresses of it can be monitored once it is verified.",
    flags: { org: "required ID", name: "required NAME", verified: "switch" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      const domain = await domains.create(org, {
        name: parsed("name", domainName, flags.name),
        verified: flags.verified !== undefined,
      });
      if (domain === "exists") throw new CommandError("The organization already has this domain.");
      return domainForm(domain);
    },
  },
  "domain verify": verification(true, "Says that a domain is the organization's."),
  "domain unverify": verification(
    false,
    "Says that a domain is no longer the organization's: its addresses are not scanned.",
  ),
  "domain list": {
    about: "Lists the domains, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { domains: (await domains.list(org)).map(domainForm).reverse() };
    },
  },
  "team create": {
    about: "Creates a team.",
    flags: { org: "required ID", name: "required NAME" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return teams.create(org, name("name", flags.name), administrator);
    },
  },
  "team list": {
    about: "Lists the teams, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { teams: (await teams.list(org)).map(teamForm).reverse() };
    },
  },
  "user create": {
    about: "Creates a user of the dashboard.",
    flags: { org: "required ID", email: "required ADDRESS", name: "optional NAME" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      const email = parsed("email", emailAddress, flags.email);
      const user = await users.create(org, {
        email,
        name: flags.name === undefined ? null : name("name", flags.name),
      });
      if (user === "exists") {
        throw new CommandError(
          `The organization already has a user ${email}: "user list --org ${org}" shows it.`,
        );
      }
      return userForm(user);
    },
  },
  "user list": {
    about: "Lists the users who are not removed, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { users: (await users.list(org)).map(userForm) };
    },
  },
  "user remove": {
    about: "Removes a user and ends the user's sessions.",
    flags: { org: "required ID", user: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      const id = idOf("user", flags);
      const outcome = await users.remove(org, id);
      if (outcome === "unknown") throw unknown("user", id);
      return { id, removed: true, alreadyRemoved: outcome === "already" };
    },
  },
  "session create": {
    about: "Creates a session of a user for 30 days and prints its cookie, this once.",
    flags: { org: "required ID", user: "required ID" },
    run: async (flags, stack) => {
      const { id: org } = await organizationOf(flags);
      const user = await users.get(org, idOf("user", flags));
      if (user === undefined || user.removed) throw unknown("user", idOf("user", flags));
      const { id, value, expiresAt } = await sessions.create(org, user);
      return {
        id,
        userId: user.id,
        expiresAt,
        cookie: `${stack.isLocal ? "session" : "__Host-session"}=${value}`,
      };
    },
  },
  "session list": {
    about: "Lists the sessions that have not expired, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { sessions: (await sessions.list(org, new Date())).map(sessionLine) };
    },
  },
  "session revoke": {
    about: "Ends a session.",
    flags: { org: "required ID", session: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      const id = idOf("session", flags);
      if ((await sessions.revoke(org, id)) === "unknown") throw unknown("session", id);
      return { id, revoked: true };
    },
  },
  "key create": {
    about: "Creates an API key and prints it, this once.",
    flags: { org: "required ID", label: "required TEXT" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return apiKeys.create(org, name("label", flags.label), administrator);
    },
  },
  "key list": {
    about: "Lists the API keys, newest first, those that were revoked included.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { keys: await apiKeys.list(org) };
    },
  },
  "key revoke": {
    about: "Revokes an API key: the next request with it is refused.",
    flags: { org: "required ID", key: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      const id = idOf("key", flags);
      if ((await apiKeys.revoke(org, id, administrator)) === "unknown") throw unknown("key", id);
      return { id, revoked: true };
    },
  },
  "email import": {
    about: "Adds the addresses of a file, one address a line.",
    flags: { org: "required ID", file: "required FILE" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return importEmails(org, await textOf("file", flags.file ?? ""));
    },
  },
  "scan list": {
    about:
      "Lists the scans of the last 365 days, newest first, 100 unless --limit says otherwise (1000 at most).",
    flags: {
      org: "required ID",
      status: `optional ${oneOf(scanStatus)}`,
      limit: "optional N",
      offset: "optional N",
    },
    run: async (flags) => {
      const page = pageOf(flags);
      const status = flags.status === undefined ? undefined : parsed("status", scanStatus, flags.status);
      const { id: org } = await organizationOf(flags);
      const { scans: shown, total } = await scans.list(org, { ...page, status }, new Date());
      return { scans: shown.map(scanLine), ...next(page, total > page.offset + page.limit) };
    },
    print: printPage,
  },
  "scan schedule": {
    about: "Sets how often the organization is scanned.",
    flags: { org: "required ID", every: `required ${oneOf(scanFrequency)}` },
    run: async (flags, stack) => {
      const { id } = await organizationOf(flags);
      const every = parsed("every", scanFrequency, flags.every);
      await organizations.setScanFrequency(id, every);
      await schedule(id, every, stack.outputs);
      return { id, scanEvery: every };
    },
  },
  "channel list": {
    about: "Lists the alert channels, newest first, without their secrets.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return { channels: (await channels.list(org)).map((channel) => channels.shown(org, channel)) };
    },
  },
  "channel test": {
    about: "Sends a test alert to a channel, whatever it is notified of.",
    flags: { org: "required ID", channel: "required ID" },
    run: async (flags) => {
      const organization = await organizationOf(flags);
      const channel = await receivingChannel(organization, idOf("channel", flags));
      return { id: await operator.sendTest(organization.id, channel), channelId: channel.id };
    },
  },
  "delivery retry": {
    about:
      "Sends a delivery again at once; with --channel all that were given up of a channel, within about two minutes.",
    flags: { org: "required ID", delivery: "optional ID", channel: "optional ID" },
    run: async (flags) => {
      if ((flags.delivery === undefined) === (flags.channel === undefined)) {
        throw new CommandError(
          "Give --delivery for one, or --channel for all of a channel that were given up.",
        );
      }
      const organization = await organizationOf(flags);
      if (flags.channel !== undefined) return retryAll(organization, idOf("channel", flags));
      const id = idOf("delivery", flags);
      const delivery = await deliveries.get(organization.id, id);
      if (delivery === undefined) throw unknown("delivery", id);
      await receivingChannel(organization, deliveries.facetOf(delivery).channelId);
      const outcome = await operator.retry(organization.id, id);
      if (outcome === "unknown") throw unknown("delivery", id);
      if (outcome !== "sent") throw new CommandError(unsendable[outcome]);
      return { id, attempt: delivery.attempts + 1 };
    },
  },
  "delivery list": {
    about:
      "Lists the deliveries of a channel, newest first, 100 unless --limit says otherwise (1000 at most).",
    flags: {
      org: "required ID",
      channel: "required ID",
      status: `optional ${oneOf(deliveryStatus)}`,
      limit: "optional N",
      offset: "optional N",
    },
    run: async (flags) => {
      const page = pageOf(flags);
      const status = flags.status === undefined ? undefined : parsed("status", deliveryStatus, flags.status);
      const { id: org } = await organizationOf(flags);
      const channel = idOf("channel", flags);
      const { items, hasMore } = await operator.list(org, channel, {
        ...page,
        status: deliveryStatuses.find((each) => flagOf(each) === status),
      });
      // A removed channel's history goes a little later than the channel.
      if (items.length === 0 && (await channels.get(org, channel)) === undefined) {
        throw unknown("channel", channel);
      }
      return { deliveries: items.map(deliveryLine), ...next(page, hasMore) };
    },
    print: printPage,
  },
  check: {
    about:
      "Compares an organization's rows with each other; exits 1 when there are differences; --repair mends them.",
    flags: { org: "required ID", repair: "switch" },
    run: async (flags) => {
      const { id: org } = await organizationOf(flags);
      return checkOrganization(org, { repair: flags.repair !== undefined });
    },
    print: printReport,
    isWrong,
  },
};

const unsendable = {
  delivered: "The delivery was delivered.",
  pending: "The delivery is pending: its first attempt is about to be made.",
  busy: "An attempt of the delivery is in hand: try again in a minute.",
};

/** A channel that alerts are sent to now; to others they would wait. */
const receivingChannel = async (
  organization: organizations.Organization,
  id: number,
): Promise<channels.Channel> => {
  const channel = await channels.get(organization.id, id);
  if (channel === undefined) throw unknown("channel", id);
  if (!channel.isEnabled)
    throw new CommandError(
      `The channel ${id} is disabled: enable it with PATCH /alert-configs/${id} {"isEnabled": true}.`,
    );
  if (lapse(organization.billing, new Date()) !== undefined) {
    throw new CommandError("The organization's subscription has lapsed: it is sent no alerts.");
  }
  return channel;
};

const retryAll = async (organization: organizations.Organization, id: number) => {
  await receivingChannel(organization, id);
  let isShown = false;
  const retried = await operator.retryAll(organization.id, id, (soFar) => {
    if (!process.stderr.isTTY) return;
    isShown = true;
    process.stderr.write(`\r${soFar} made due`);
  });
  if (isShown) process.stderr.write("\n");
  return { channelId: id, retried };
};

/** One of a list. */
const deliveryLine = (row: Delivery) => ({
  id: row.id,
  type: row.event.type,
  status: labelOf(row.status),
  failedAttempts: row.failedAttempts,
  attempts: row.attempts,
  lastAttemptAt: row.lastAttemptAt,
  failureReason: row.failureReason,
});

/** The text of a file that a flag names from where the person is; npm runs us in the project's directory. */
const textOf = async (flag: string, path: string): Promise<string> => {
  if (path === "") throw new CommandError(`--${flag} must name a file.`);
  const file = resolve(process.env.INIT_CWD ?? process.cwd(), path);
  return readFile(file, "utf8").catch(() => {
    throw new CommandError(`The file ${file} cannot be read.`);
  });
};

/** Invalid lines that are named at most: the first. */
const invalidLinesShown = 10;

/**
 * Adds the addresses of a file, one a line. Those monitored already are skipped; those of domains that the organization does not
 * have are invalid. Not what a preview extracts: that is at most 500, and leaves lines without an address out silently.
 */
const importEmails = async (org: number, text: string) => {
  const byName = new Map((await domains.list(org)).map((domain) => [domain.name, domain]));
  const lines = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const given = line.trim();
    if (given !== "" && !lines.has(given)) lines.set(given, index + 1);
  }
  const rows = new Map<string, number>();
  const invalid: number[] = [];
  for (const [line, lineNumber] of lines) {
    const email = importedAddress.safeParse(line).data;
    const domain = email === undefined ? undefined : byName.get(domainOf(email));
    if (email === undefined || domain === undefined) {
      invalid.push(lineNumber);
      continue;
    }
    if (!domain.verified) {
      throw new CommandError(
        `The domain ${domain.name} is not verified: "domain verify --org ${org} --domain ${domain.id}" says that it is.`,
      );
    }
    rows.set(email, domain.id);
  }
  const invalidLines = invalid.slice(0, invalidLinesShown);
  if (rows.size === 0) {
    throw new CommandError(
      invalid.length === 0
        ? "The file is empty: give one address a line."
        : `No line of the file is an address of the organization's domains, such as line ${invalidLines[0]}: give one address a line and nothing else.`,
    );
  }
  const { imported, disabled } = await importAll(
    org,
    [...rows].map(([email, domainId]) => ({ email, domainId, ownerName: null })),
    administrator,
    progressOf(rows.size),
  );
  return {
    added: imported,
    disabled,
    skipped: rows.size - imported,
    invalid: invalid.length,
    ...(invalid.length > 0 && { invalidLines }),
  };
};

/** Shows how far a long command is, to a person who watches. */
const progressOf =
  (of: number) =>
  (done: number): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of}${done >= of ? "\n" : ""}`);
  };
