import { open } from "node:fs/promises";
import * as z from "zod/mini";
import { withStatus } from "../../../shared/access/billing/billing.ts";
import {
  type Billing,
  billingInterval,
  billingStatus,
} from "../../../shared/access/billing/billing-schema.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { organizationName, scanFrequency } from "../../../shared/access/organizations/organization-schema.ts";
import { schedule, unschedule } from "../../../shared/access/organizations/scan-schedule.ts";
import { longestHours } from "../../../shared/access/sessions/session.ts";
import { defaultMailBudget } from "../../../shared/alerting/kinds/email/mail-budget.ts";
import * as deletion from "../../../shared/operations/deletion.ts";
import { exportLines, type Line } from "../../../shared/operations/personal-data/export.ts";
import type { Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import {
  findOrganization,
  noOrganization,
  oneOf,
  parse,
  parseId,
  parseNumber,
  parsePath,
  parseTime,
} from "../flags.ts";
import { pick } from "../print.ts";

/** Who may sign in: whoever has an address of a user, or only whom the identity provider knows. */
const waysIn = z.enum(["any", "provider"]);

/**
 * How many hours sessions last at most, unless another number is given: a person who leaves is stopped at the
 * provider alone.
 */
const defaultSessionHours = { any: longestHours, provider: 12 } as const;

export const orgCommands: Commands = {
  "org create": {
    about:
      "Creates an organization, paid, billed monthly and scanned daily unless the flags say " +
      "otherwise; a trial ends after 14 days and has 25 seats.",
    flags: {
      name: "required NAME",
      billing: `optional ${oneOf(billingStatus)}`,
      "trial-ends": "optional 2030-01-31T00:00:00Z",
      interval: `optional ${oneOf(billingInterval)}`,
      "seat-price-cents": "optional N",
      "seat-allowance": "optional N|none",
      "scan-every": `optional ${oneOf(scanFrequency)}`,
    },
    isAct: true,
    run: async (flags, stack) => {
      const paid: Billing = {
        status: "active",
        trialEndsAt: null,
        interval: parse("interval", billingInterval, flags.interval ?? "month"),
        seatPriceCents: parseNumber("seat-price-cents", flags["seat-price-cents"] ?? "0"),
        seatAllowance: null,
      };
      const status = parse("billing", billingStatus, flags.billing ?? "active");
      const input = {
        name: parse("name", organizationName, flags.name),
        billing: { ...withStatus(paid, status, new Date()), ...billingTerms(flags) },
        scanEvery: parse("scan-every", scanFrequency, flags["scan-every"] ?? "day"),
      };
      const organization = await organizations.create(input);
      try {
        const { id, scanEvery } = organization;
        await organizations.set(id, { firstScanAt: await schedule(id, scanEvery, stack.outputs) });
      } catch (error) {
        throw new CommandError(
          `Organization ${organization.id} was created, but its scans could not be scheduled ` +
            `(${(error as Error).name}): run scan schedule --org ${organization.id} --every ` +
            `${organization.scanEvery}.`,
        );
      }
      return shown(organization);
    },
  },
  "org list": {
    about: "Lists all organizations, newest first.",
    flags: {},
    run: async () => ({ organizations: (await organizations.list()).map(shownInList).reverse() }),
  },
  "org show": {
    about: "Shows an organization.",
    flags: { org: "required ID" },
    run: async (flags) => shown(await findOrganization(flags)),
  },
  "org export": {
    about:
      "Writes all that is of an organization into a new file, one JSON object a line, without " +
      "keys, hashes, webhook secrets and urls.",
    flags: { org: "required ID", file: "required FILE" },
    isAct: true,
    run: async (flags) => {
      const organization = await findOrganization(flags);
      const file = parsePath("file", flags.file);
      return { file, lines: await writeLines(file, exportLines(organization)) };
    },
  },
  "org delete": {
    about: "Deletes an organization with all that is of it, for good; --name is its name.",
    flags: { org: "required ID", name: "required NAME" },
    isAct: true,
    run: async (flags, stack) => {
      const org = parseId("org", flags);
      // `findOrganization` would not find an organization whose deletion has begun and has to be repeated.
      const organization = await organizations.get(org);
      if (organization === undefined) throw noOrganization(org);
      if (flags.name !== organization.name) {
        throw new CommandError(
          `--name must be the name of organization ${org}, as "org show --org ${org}" prints it: ` +
            "all of it is deleted for good.",
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
    isAct: true,
    run: async (flags) => {
      const { id, billing } = await findOrganization(flags);
      const status = parse("status", billingStatus, flags.status);
      const changed = { ...withStatus(billing, status, new Date()), ...billingTerms(flags) };
      await organizations.set(id, { billing: changed });
      return { id, billing: shownBilling(changed) };
    },
  },
  "org mail-budget": {
    about:
      "Sets how many copies of alerts go out by e-mail in an hour and in a day; " +
      `${defaultMailBudget.hour} and ${defaultMailBudget.day} unless set.`,
    flags: { org: "required ID", hour: "required N", day: "required N" },
    isAct: true,
    run: async (flags) => {
      const { id } = await findOrganization(flags);
      const mailBudget = { hour: parseNumber("hour", flags.hour), day: parseNumber("day", flags.day) };
      await organizations.set(id, { mailBudget });
      return { id, mailBudget };
    },
  },
  "org sign-in": {
    about:
      "Sets how people sign in: by any way, or by the identity provider alone, beside links that " +
      "the operator makes; and how many hours sessions last at most: 12 with the provider, 720 " +
      "without, unless given.",
    flags: { org: "required ID", by: `required ${oneOf(waysIn)}`, "session-hours": "optional N" },
    isAct: true,
    run: async (flags, stack) => {
      const { id } = await findOrganization(flags);
      const signIn = parse("by", waysIn, flags.by);
      if (signIn === "provider" && stack.outputs.OidcIssuer === undefined) {
        throw new CommandError(
          "No identity provider is set up: deploy with -c oidcIssuer and -c oidcClientId first.",
        );
      }
      const { "session-hours": given } = flags;
      const sessionHours =
        given === undefined
          ? defaultSessionHours[signIn]
          : parseNumber("session-hours", given, 1, longestHours);
      await organizations.set(id, { signIn, sessionHours });
      return { id, signIn, sessionHours };
    },
  },
};

/** Writes lines to a file that must not exist, and gives how many there are of each kind. */
const writeLines = async (file: string, lines: AsyncIterable<Line[]>): Promise<Record<string, number>> => {
  const handle = await open(file, "wx", 0o600).catch((error: Error) => {
    throw new CommandError(`The file ${file} cannot be created: ${error.message}.`);
  });
  const counts: Record<string, number> = {};
  try {
    for await (const some of lines) {
      for (const { kind } of some) counts[kind] = (counts[kind] ?? 0) + 1;
      // Unlike `write`, it writes all or throws: a full disk takes a part.
      await handle.appendFile(some.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
  } finally {
    await handle.close();
  }
  return counts;
};

/** The terms that the flags set. They override the terms that follow from the status. */
const billingTerms = (flags: Flags): Partial<Billing> => ({
  ...(flags["trial-ends"] !== undefined && { trialEndsAt: parseTime("trial-ends", flags["trial-ends"]) }),
  ...(flags["seat-allowance"] !== undefined && { seatAllowance: parseSeats(flags["seat-allowance"]) }),
});

const parseSeats = (value: string): number | null =>
  value === "none" ? null : parseNumber("seat-allowance", value);

const shown = (organization: organizations.Organization) => ({
  ...pick(organization, "id", "name", "createdAt"),
  billing: shownBilling(organization.billing),
  scanEvery: organization.scanEvery,
  mailBudget: pick(organization.mailBudget ?? defaultMailBudget, "hour", "day"),
  signIn: organization.signIn ?? "any",
  sessionHours: organization.sessionHours ?? longestHours,
});

const shownInList = (organization: organizations.Organization) => ({
  ...pick(organization, "id", "name", "createdAt"),
  billingStatus: organization.billing.status,
  trialEndsAt: organization.billing.trialEndsAt,
});

const shownBilling = (billing: Billing) =>
  pick(billing, "status", "trialEndsAt", "interval", "seatPriceCents", "seatAllowance");
