/**
 * What whoever deploys may choose. Props of the construct and context values of the app (`-c name=value`) have the same names, and
 * `readOptions` checks both and knows the defaults.
 */
import * as z from "zod/mini";
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

const address = z.pipe(z.string().check(z.refine((value) => value === value.trim())), writtenAddress);

/** Local runs alone ask by plain http. */
const issuer = z.string().check(
  z.refine((value) => {
    const url = URL.parse(value);
    const isLocal = url?.protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
    return url?.href === `${url?.origin}${url?.pathname}` && (url?.protocol === "https:" || isLocal);
  }),
);

/** Reads the options with `given`: values as they are typed, or the text of a command line. Throws a sentence that names the value which is wrong. */
export function readOptions(given: (name: keyof Options) => unknown): Options {
  /** Undefined if it is not given. Without `isShown` the error does not repeat the value, which could be a secret. */
  const read = <T>(name: keyof Options, form: z.ZodMiniType<T>, what: string, isShown = true) => {
    const value = given(name);
    if (value === undefined) return undefined;
    const { success, data } = form.safeParse(value);
    if (success) return data;
    throw new InvalidOption(`${name} must be ${what}${isShown ? `, not "${value}"` : ""}`);
  };
  const formed = (name: keyof Options, form: RegExp, what: string, isShown?: boolean) =>
    read(name, z.string().check(z.regex(form)), what, isShown);
  const choice = <const Value extends string>(name: keyof Options, values: readonly Value[]) =>
    read(name, z.enum(values), values.join(" or "));
  // `-c` gives text, and cdk.json can give booleans and numbers.
  const flag = (name: keyof Options, usual: boolean): boolean =>
    (read(name, z.pipe(z.transform(String), z.enum(["true", "false"])), "true or false") ?? `${usual}`) ===
    "true";
  const whole = (name: keyof Options, maximum: number): number | undefined =>
    read(
      name,
      z.pipe(
        z.pipe(z.transform(String), z.string().check(z.regex(/^[1-9]\d*$/))),
        z.pipe(z.transform(Number), z.number().check(z.maximum(maximum))),
      ),
      `a whole number from 1 to ${maximum}`,
    );
  const alarms = choice("alarms", alarmSets) ?? "all";
  return {
    alarmEmail: read("alarmEmail", address, "an e-mail address"),
    senderEmail: read("senderEmail", address, "an e-mail address"),
    // What these three have to look like is checked where they are used.
    domainName: read("domainName", z.string(), "a text"),
    certificateArn: read("certificateArn", z.string(), "a text"),
    tableName: read("tableName", z.string(), "a text"),
    alarms,
    // Whoever wants the fewest alarms wants an idle deployment that costs next to nothing.
    maximumConcurrency: flag("maximumConcurrency", alarms !== "minimal"),
    hibpContact: formed(
      "hibpContact",
      // Goes into a header, in parentheses.
      /^(?=.{1,200}$)(?:[\w.+-]+@[\w.-]+|https:\/\/[\w./~%-]+)$/,
      "an e-mail address or an https url",
    ),
    requestsPerSecond: whole("requestsPerSecond", maximumRequestsPerSecond) ?? defaultRequestsPerSecond,
    monthlyBudgetDollars: whole("monthlyBudgetDollars", maximumDollars),
    webAcl: flag("webAcl", false),
    tableEncryption: choice("tableEncryption", tableEncryptions) ?? "aws-owned",
    confirmRecipients: flag("confirmRecipients", false),
    keyGuards: flag("keyGuards", true),
    gatewayContextHeaders: flag("gatewayContextHeaders", true),
    trustedProxySecret: formed(
      "trustedProxySecret",
      /^(?:\/[\w.-]+)+$/,
      "the name of a parameter, such as /breach-monitor/proxy-secret",
      false,
    ),
    oidcIssuer: read("oidcIssuer", issuer, "an https url without query, such as https://acme.okta.com"),
    oidcClientId: formed("oidcClientId", /^[\x21-\x7e]{1,200}$/, "a client id"),
    oidcName: formed("oidcName", /^(?! )[^\p{C}]{1,60}(?<! )$/u, "at most 60 characters"),
    oidcEmailClaim: formed(
      "oidcEmailClaim",
      /^[\w.:/-]{1,200}$/,
      "the name of a claim, such as preferred_username",
    ),
    oidcJoin: choice("oidcJoin", ["member"]),
  };
}
