/** What setup has to know: from flags, and for the rest from questions. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import * as z from "zod/mini";
import { stageName } from "../../lib/options.ts";
import { organizationName } from "../../shared/access/organizations/organization-schema.ts";
import { domainName } from "../../shared/monitoring/domains/domain-schema.ts";
import { refusalOf } from "../../shared/monitoring/domains/refused-names.ts";
import { emailAddress, writtenAddress } from "../../shared/monitoring/emails/email-schema.ts";
import { CommandError, wrongUsage } from "../admin/error.ts";
import { expectUrl, parse, parsePath } from "../admin/flags.ts";
import { readContext } from "./context.ts";
import { ask, isTerminal } from "./terminal.ts";

export const usage = `Usage: npm run setup -- [option]...

  --organization NAME     the organization that is served first
  --user ADDRESS          its first user, an admin
  --domain NAME           a domain of which you say that it is the organization's
  --alarm-email ADDRESS   alarms are sent there
  --sender-email ADDRESS  e-mail comes from there; SES must have verified it or its domain
  --stage NAME            the stage, whose stack is breach-monitor-NAME: production unless given
  --app DIR               deploys what is synthesized in this folder, such as a release, with the options in it
  --webhook URL           receives the alerts of the deployment test
  --api URL               the base of the API for the deployment test, if it is not that of the output ApiUrl
  --skip-test             does not test the deployment
  --yes                   asks for nothing but the API key, if that is missing

The API key of Have I Been Pwned is read from the variable HIBP_API_KEY, or from the terminal or standard input.
`;

const options = {
  organization: { type: "string" },
  user: { type: "string" },
  domain: { type: "string" },
  "alarm-email": { type: "string" },
  "sender-email": { type: "string" },
  stage: { type: "string", default: "production" },
  app: { type: "string" },
  webhook: { type: "string" },
  api: { type: "string" },
  "skip-test": { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;

export type Flags = Omit<ReturnType<typeof parseFlags>, "help">;

export type Answers = {
  organization: string;
  user: string;
  domain?: string;
  /** These two have the names of the options that they become. */
  alarmEmail?: string;
  senderEmail?: string;
};

const parseFlags = (args: string[]) => parseArgs({ args, options, strict: true }).values;

/** Undefined: help is asked for. Throws `CommandError`. */
export const readFlags = (args: string[]): Flags | undefined => {
  const { help, app, ...flags } = parsedOrRefused(args);
  if (help) return undefined;
  parse("stage", stageName, flags.stage);
  for (const flag of ["webhook", "api"] as const) expectUrl(flag, flags[flag]);
  if (app === undefined) return flags;
  const assembly = parsePath("app", app);
  if (!existsSync(`${assembly}/manifest.json`))
    throw new CommandError(`--app: there is no manifest.json in ${assembly}.`);
  if (flags["alarm-email"] !== undefined || flags["sender-email"] !== undefined)
    throw new CommandError("--app has its options in it: leave out --alarm-email and --sender-email.");
  return { ...flags, app: assembly };
};

const parsedOrRefused = (args: string[]) => {
  try {
    return parseFlags(args);
  } catch (error) {
    throw new CommandError(`${wrongUsage(error)}: "npm run setup -- --help" lists the options.`);
  }
};

type Question = {
  flag: "organization" | "user" | "domain" | "alarm-email" | "sender-email";
  question: string;
  read: (answer: string) => string;
  answer: keyof Answers;
  /** What no answer means. Undefined: there must be one. */
  without?: string;
};

/** A name that nobody can own is refused here, before anything is deployed. */
const ownDomain = domainName.check(
  z.refine((name) => refusalOf(name) === undefined, { error: ({ input }) => refusalOf(String(input)) }),
);

const asked: readonly Question[] = [
  {
    flag: "organization",
    answer: "organization",
    question: "Name of your organization",
    read: (name) => parse("organization", organizationName, name),
  },
  {
    flag: "user",
    answer: "user",
    question: "E-mail address of its first user, an admin",
    read: (address) => parse("user", emailAddress, address),
  },
  {
    flag: "domain",
    answer: "domain",
    question: "A domain that is the organization's",
    read: (name) => parse("domain", ownDomain, name),
    without: "none",
  },
];

const askedOfSources: readonly Question[] = [
  {
    flag: "alarm-email",
    answer: "alarmEmail",
    question: "E-mail address that alarms are sent to",
    read: (address) => parse("alarm-email", writtenAddress, address),
    without: "nobody is notified",
  },
  {
    flag: "sender-email",
    answer: "senderEmail",
    question: "E-mail address that e-mail comes from, verified in Amazon SES",
    read: (address) => parse("sender-email", writtenAddress, address),
    without: "none is sent",
  },
];

/** Asks for what no flag says. Throws `CommandError` if there is no terminal to ask at. */
export const complete = async (flags: Flags): Promise<Answers> => {
  // Options of a former deployment.
  const former = readContext() as Partial<Answers>;
  const mayAsk = !flags.yes;
  if (mayAsk && !isTerminal())
    throw new CommandError("Give --yes and every answer, as there is nobody to ask.");
  const answers: Partial<Answers> = {};
  for (const question of [...asked, ...(flags.app === undefined ? askedOfSources : [])]) {
    const { flag, answer, read, without } = question;
    const given = flags[flag];
    let found = former[answer];
    if (given !== undefined) found = read(given);
    else if (mayAsk) found = await answerTo(question, found);
    else if (without === undefined) throw new CommandError(`Give --${flag}, as there is nobody to ask.`);
    if (found !== undefined) answers[answer] = found;
  }
  return answers as Answers;
};

const answerTo = async (
  { question, read, without }: Question,
  former: string | undefined,
): Promise<string | undefined> => {
  const usual = former ?? without;
  const parsed = (answer: string): string | undefined =>
    answer.trim() === "" && usual !== undefined ? former : read(answer.trim());
  return parsed(await ask(`${question}${usual === undefined ? "" : ` (Enter: ${usual})`}`, parsed));
};
