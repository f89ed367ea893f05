/**
 * What whoever deploys may choose. Props of the construct and context values of the app (`-c name=value`)
 * have the same names. `readOptions` checks both and knows the defaults.
 */
import * as z from "zod/mini";
import { writtenAddress } from "../shared/monitoring/emails/email-schema.ts";
import { leastRequestsPerSecond } from "./throttle.ts";

/** Says in a sentence which option is wrong. */
export class InvalidOption extends Error {}

/**
 * `what` a value must be, as the end of a sentence. `usual`: what no value means. `isHidden`: an error does
 * not repeat the value, which could be a secret.
 */
type Option<T> = { form: z.ZodMiniType; what: string; usual: T; isHidden?: true };

const option = <T>(form: z.ZodMiniType<T>, what: string): Option<T | undefined> => ({
  form,
  what,
  usual: undefined,
});

const text = (form: RegExp, what: string) => option(z.string().check(z.regex(form)), what);

const choice = <const Value extends string>(values: readonly Value[]) =>
  option(z.enum(values), values.join(" or "));

const usually = <T>(usual: T, given: Option<T | undefined>): Option<T> => ({ ...given, usual });

// `-c` gives text, and cdk.json can give booleans and numbers.
const flag = (usual: boolean): Option<boolean> => ({
  form: z.pipe(
    z.pipe(z.transform(String), z.enum(["true", "false"])),
    z.transform((value) => value === "true"),
  ),
  what: "true or false",
  usual,
});

const whole = (maximum: number, minimum = 1) =>
  option(
    z.pipe(
      z.pipe(z.transform(String), z.string().check(z.regex(/^[1-9]\d*$/))),
      z.pipe(z.transform(Number), z.number().check(z.minimum(minimum), z.maximum(maximum))),
    ),
    `a whole number from ${minimum} to ${maximum}`,
  );

const address = option(
  z.pipe(z.string().check(z.refine((value) => value === value.trim())), writtenAddress),
  "an e-mail address",
);

/**
 * Local runs alone ask by plain http. Of Entra's issuers only those of one tenant name themselves in what they sign.
 */
const issuer = z.string().check(
  z.refine((value) => {
    const url = URL.parse(value);
    if (url === null) return false;
    const { protocol, hostname, origin, pathname } = url;
    const isLocal = protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
    const isEntra = /^login\.(?:partner\.)?microsoftonline\.\w+$/.test(hostname);
    return (
      url.href === `${origin}${pathname}` &&
      (protocol === "https:" || isLocal) &&
      !pathname.includes("/.well-known") &&
      (!isEntra || /^\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\/v2\.0$/.test(pathname))
    );
  }),
);

const options = {
  /** The address that alarms are sent to, once it has confirmed the subscription. Undefined: alarms notify nobody. */
  alarmEmail: address,
  /** The address that e-mail comes from. SES must have verified it or its domain. Undefined: none is sent. */
  senderEmail: address,
  /** A host name of the deployment's own for API and dashboard. Undefined: the one that API Gateway gives. */
  domainName: text(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, "a host name in lower case"),
  /** The ARN of ACM's certificate for `domainName`, of the stack's region. */
  certificateArn: text(
    /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/\S+$/,
    "the ARN of a certificate of ACM",
  ),
  /** The name of an existing table, such as a restored one (docs/restore.md). Undefined: a table is created. */
  tableName: text(
    /^[a-zA-Z0-9_.-]{3,255}$/,
    'the name of a DynamoDB table, 3 to 255 letters, digits, "_", "-" and "."',
  ),
  /**
   * `minimal`: only alarms for failures that nobody would notice. Queues then have no maximum of concurrent
   * invocations, which makes an idle queue dearer. Default "all".
   */
  alarms: usually("all", choice(["all", "minimal"])),
  /** Whom HIBP reaches about this deployment: an e-mail address or an https url, in the user agent. */
  // Goes into a header, in parentheses.
  hibpContact: text(
    /^(?=.{1,200}$)(?:[\w.+-]+@[\w.-]+|https:\/\/[\w./~%-]+)$/,
    "an e-mail address or an https url",
  ),
  /**
   * How many requests a second API Gateway lets through to each endpoint of /api/v1, for all clients
   * together. Each of the dashboard's endpoints gets half as many, and the page a quarter. API Gateway
   * answers 429 to all others. Default 9: what a flood costs grows with it, times the number of endpoints
   * (docs/cost.md). The least: one key cannot use them up. The most: API Gateway's own limit for an account
   * and region.
   */
  requestsPerSecond: usually(leastRequestsPerSecond, whole(10_000, leastRequestsPerSecond)),
  /**
   * What the account may cost in a month, in whole US dollars, before AWS Budgets mails to `alarmEmail`.
   * Undefined: no budget.
   */
  monthlyBudgetDollars: whole(1_000_000),
  /** Whether a web ACL limits the requests of each address before API Gateway counts them. Default false. */
  webAcl: flag(false),
  /**
   * `aws-managed`: the key is in the account, and each use of it is in CloudTrail and costs a request to KMS.
   * Default "aws-owned".
   */
  tableEncryption: usually("aws-owned", choice(["aws-owned", "aws-managed"])),
  /**
   * Whether recipients of alerts outside the organization confirm before anything else is sent to them. Default false.
   */
  confirmRecipients: flag(false),
  /** Whether roles name the partitions that functions may not write. Default true. */
  keyGuards: flag(true),
  /**
   * Whether replies of API Gateway itself carry `X-Request-Id`, and the exact `Retry-After` of a limit. Default true.
   */
  gatewayContextHeaders: flag(true),
  /**
   * The SHA-256 of the secret of a proxy in front of the API; several while one replaces another. Undefined:
   * no proxy is trusted.
   */
  trustedProxySecretSha256: {
    ...text(
      // e3b0c44298fc1c14… is the hash of an empty text: with it, whoever sends an empty header would be trusted.
      /^(?!.*e3b0c44298fc1c14)[\da-f]{64}(?:,[\da-f]{64})*$/,
      "64 hexadecimal digits in lower case, of a secret that is not empty, or several such joined by commas",
    ),
    // Somebody may have typed the secret itself.
    isHidden: true,
  },
  /** The https url of an OpenID Connect provider. Undefined: people sign in by link only. */
  oidcIssuer: option(
    issuer,
    "an https url without query and without /.well-known/…, such as https://acme.okta.com. " +
      "Entra's is https://login.microsoftonline.com/TENANT_ID/v2.0, with the id of one tenant instead of common",
  ),
  /** This service's id at the provider, which `oidcIssuer` needs. */
  oidcClientId: text(/^[\x21-\x7e]{1,200}$/, "a client id"),
  /** As the button has it: "Sign in with …". Default "single sign-on". */
  oidcName: text(/^(?! )[^\p{C}]{1,60}(?<! )$/u, "at most 60 characters"),
  /** The claim that is taken for a verified address. Default `email`, if `email_verified` is true. */
  oidcEmailClaim: text(/^[\w.:/-]{1,200}$/, "the name of a claim, such as preferred_username"),
  /** A claim of the ID token and its value, "hd=acme.com". Whoever lacks it is refused. Undefined: nobody is. */
  oidcRequire: text(
    /^[\w.:/-]{1,200}=(?! )[^\p{C}]{1,200}(?<! )$/u,
    "a claim and its value, such as hd=acme.com or tid=TENANT_ID",
  ),
  /** "member": people of a verified domain become members by signing in. Undefined: nobody does. */
  oidcJoin: choice(["member"]),
} as const;

export type Options = { [Name in keyof typeof options]: (typeof options)[Name]["usual"] };

/** Options that say nothing without another one. */
const needs: readonly [option: keyof Options, needed: keyof Options][] = [
  ["domainName", "certificateArn"],
  ["certificateArn", "domainName"],
  ["monthlyBudgetDollars", "alarmEmail"],
  ["oidcIssuer", "oidcClientId"],
  ["oidcClientId", "oidcIssuer"],
  ["oidcName", "oidcIssuer"],
  ["oidcEmailClaim", "oidcIssuer"],
  ["oidcRequire", "oidcIssuer"],
  ["oidcJoin", "oidcIssuer"],
];

/**
 * Reads the options with `given`: values as they are typed, or the text of a command line. Throws a sentence
 * that names the value which is wrong.
 */
export function readOptions(given: (name: keyof Options) => unknown): Options {
  const read = (name: keyof Options): unknown => {
    const { form, what, usual, isHidden }: Option<unknown> = options[name];
    const value = given(name);
    if (value === undefined) return usual;
    const { success, data } = form.safeParse(value);
    if (success) return data;
    throw new InvalidOption(`${name} must be ${what}${isHidden ? "" : `, not "${value}"`}`);
  };
  const names = Object.keys(options) as (keyof Options)[];
  const chosen = Object.fromEntries(names.map((name) => [name, read(name)])) as Options;
  for (const [name, needed] of needs) {
    if (chosen[name] !== undefined && chosen[needed] === undefined)
      throw new InvalidOption(`${name} needs ${needed} too`);
  }
  return chosen;
}

/** With the longest name of a function the names of a stage have the 64 characters that Lambda takes. */
export const stageName = z
  .string()
  .check(
    z.regex(
      /^[a-z][a-z0-9-]{0,26}$/,
      "must be 1 to 27 lower-case letters, digits and hyphens and start with a letter",
    ),
  );
