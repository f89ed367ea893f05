/**
 * What whoever deploys may choose. Props of the construct and context values of the app (`-c name=value`) have the same names, and
 * `readOptions` checks both and knows the defaults.
 */
import { writtenAddress } from "../shared/monitoring/emails/email-schema.ts";
import { type AlarmSet, alarmSets } from "./alarms.ts";

/** Says in a sentence which option is wrong. */
export class InvalidOption extends Error {}

export type Options = {
  /** The address that alarms are sent to, once it has confirmed the subscription. Undefined: alarms notify nobody. */
  alarmEmail: string | undefined;
  /** The address that e-mail comes from. SES must have verified it or its domain. Undefined: none is sent. */
  senderEmail: string | undefined;
  /** A host name of the deployment's own for API and dashboard. Undefined: the one that API Gateway gives. */
  domainName: string | undefined;
  /** The ARN of ACM's certificate for `domainName`, of the stack's region. */
  certificateArn: string | undefined;
  /** The name of an existing table, such as a restored one (docs/restore.md). Undefined: a table is created. */
  tableName: string | undefined;
  /** Default "all". "minimal" has another default of `maximumConcurrency`. */
  alarms: AlarmSet;
  /** Whether the workers that ask for it have a maximum of concurrent invocations. Default true, with `alarms: "minimal"` false. */
  maximumConcurrency: boolean;
  /** Whom HIBP reaches about this deployment: an e-mail address or an https url, in the user agent. */
  hibpContact: string | undefined;
  /** How many requests a second API Gateway lets through to each endpoint, all clients together; half as many to the page. It answers 429 to the others. Default 5. */
  requestsPerSecond: number;
  /** What the account may cost in a month, in whole US dollars, before AWS Budgets mails to `alarmEmail`. Undefined: no budget. */
  monthlyBudgetDollars: number | undefined;
  /** Whether a web ACL limits the requests of each address before API Gateway counts them. Default false. */
  webAcl: boolean;
  /** Default "aws-owned". */
  tableEncryption: TableEncryptionChoice;
  /** Whether recipients of alerts outside the organization confirm before anything else is sent to them. Default false. */
  confirmRecipients: boolean;
  /** Whether roles name the partitions that functions may not write. Default true. */
  keyGuards: boolean;
  /** Whether replies of API Gateway itself carry `X-Request-Id`, and the exact `Retry-After` of a limit. Default true. */
  gatewayContextHeaders: boolean;
  /** The name of the parameter with the secret of a proxy in front of the API. Undefined: no proxy is trusted. */
  trustedProxySecret: string | undefined;
  /** The https url of an OpenID Connect provider. Undefined: people sign in by link only. */
  oidcIssuer: string | undefined;
  /** This service's id at the provider, which `oidcIssuer` needs. */
  oidcClientId: string | undefined;
  /** As the button has it: "Sign in with …". Default "single sign-on". */
  oidcName: string | undefined;
  /** The claim that is taken for a verified address. Default `email`, if `email_verified` is true. */
  oidcEmailClaim: string | undefined;
  /** "member": people of a verified domain become members by signing in. Undefined: nobody does. */
  oidcJoin: "member" | undefined;
};

const tableEncryptions = ["aws-owned", "aws-managed"] as const;
/** `aws-managed`: the key is in the account, and each use of it is in CloudTrail and costs a request to KMS. */
export type TableEncryptionChoice = (typeof tableEncryptions)[number];

/** What a flood costs grows with it, times the number of endpoints (docs/cost.md). */
const defaultRequestsPerSecond = 5;

/** API Gateway's own limit for all APIs of an account and region. */
const maximumRequestsPerSecond = 10_000;

const maximumDollars = 1_000_000;

/** Reads the options with `given`: values as they are typed, or the text of a command line. Throws a sentence that names the value which is wrong. */
export function readOptions(given: (name: keyof Options) => unknown): Options {
  const alarms = choice("alarms", given("alarms"), alarmSets);
  return {
    alarmEmail: address("alarmEmail", given("alarmEmail")),
    senderEmail: address("senderEmail", given("senderEmail")),
    domainName: text("domainName", given("domainName")),
    certificateArn: text("certificateArn", given("certificateArn")),
    tableName: text("tableName", given("tableName")),
    alarms,
    // Whoever wants the fewest alarms wants an idle deployment that costs next to nothing.
    maximumConcurrency: flag("maximumConcurrency", given("maximumConcurrency"), alarms !== "minimal"),
    hibpContact: formed(
      "hibpContact",
      given("hibpContact"),
      // Goes into a header, in parentheses.
      /^(?=.{1,200}$)(?:[\w.+-]+@[\w.-]+|https:\/\/[\w./~%-]+)$/,
      "an e-mail address or an https url",
    ),
    requestsPerSecond:
      whole("requestsPerSecond", given("requestsPerSecond"), maximumRequestsPerSecond) ??
      defaultRequestsPerSecond,
    monthlyBudgetDollars: whole("monthlyBudgetDollars", given("monthlyBudgetDollars"), maximumDollars),
    webAcl: flag("webAcl", given("webAcl"), false),
    tableEncryption: choice("tableEncryption", given("tableEncryption"), tableEncryptions),
    confirmRecipients: flag("confirmRecipients", given("confirmRecipients"), false),
    keyGuards: flag("keyGuards", given("keyGuards"), true),
    gatewayContextHeaders: flag("gatewayContextHeaders", given("gatewayContextHeaders"), true),
    trustedProxySecret: parameterName("trustedProxySecret", given("trustedProxySecret")),
    oidcIssuer: issuer("oidcIssuer", given("oidcIssuer")),
    oidcClientId: formed("oidcClientId", given("oidcClientId"), /^[\x21-\x7e]{1,200}$/, "a client id"),
    oidcName: formed("oidcName", given("oidcName"), /^(?! )[^\p{C}]{1,60}(?<! )$/u, "at most 60 characters"),
    oidcEmailClaim: formed(
      "oidcEmailClaim",
      given("oidcEmailClaim"),
      /^[\w.:/-]{1,200}$/,
      "the name of a claim, such as preferred_username",
    ),
    oidcJoin: given("oidcJoin") === undefined ? undefined : choice("oidcJoin", given("oidcJoin"), ["member"]),
  };
}

/** One of the values; the first of them by default. */
function choice<const Value extends string>(
  name: string,
  value: unknown,
  values: readonly [Value, ...Value[]],
): Value {
  if (value === undefined) return values[0];
  const found = values.find((each) => each === value);
  if (found === undefined) throw new InvalidOption(`${name} must be ${values.join(" or ")}, not "${value}"`);
  return found;
}

/** `-c` gives text, and cdk.json can give a boolean. */
function flag(name: string, value: unknown, usual: boolean): boolean {
  if (value === undefined) return usual;
  return choice(name, String(value), ["true", "false"]) === "true";
}

function address(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const { data } = writtenAddress.safeParse(value);
  if (data === undefined || value !== String(value).trim())
    throw new InvalidOption(`${name} must be an e-mail address, not "${value}"`);
  return data;
}

/** What it has to look like is checked where it is used. */
function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new InvalidOption(`${name} must be a text, not "${value}"`);
}

/** From its first slash. The error does not repeat the value, which could be the secret itself. */
function parameterName(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const isName = typeof value === "string" && /^(?:\/[\w.-]+)+$/.test(value);
  if (!isName)
    throw new InvalidOption(`${name} must be the name of a parameter, such as /breach-monitor/proxy-secret`);
  return value;
}

function issuer(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const url = typeof value === "string" ? URL.parse(value) : null;
  // Local runs alone ask by plain http.
  const isLocal = url?.protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
  if (url === null || !isPlain || !(url.protocol === "https:" || isLocal)) {
    throw new InvalidOption(
      `${name} must be an https url without query, such as https://acme.okta.com, not "${value}"`,
    );
  }
  return String(value);
}

function formed(name: string, value: unknown, form: RegExp, what: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !form.test(value))
    throw new InvalidOption(`${name} must be ${what}, not "${value}"`);
  return value;
}

function whole(name: string, value: unknown, maximum: number): number | undefined {
  if (value === undefined) return undefined;
  const isWhole = /^[1-9]\d*$/.test(String(value));
  if (!isWhole || Number(value) > maximum) {
    throw new InvalidOption(`${name} must be a whole number from 1 to ${maximum}, not "${value}"`);
  }
  return Number(value);
}
