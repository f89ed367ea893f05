import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BehaviourSettings } from "./dynamodb/behaviour.ts";
import { type TransactionKeys, transactionKeys } from "./front/permissions.ts";
import { type PlanName, planNames } from "./hibp/plans.ts";

/** What the options of `npm start` come to. */
export type Settings = {
  /** 0 takes a free one. */
  port: number;
  /** The directory that keeps data; undefined keeps none. */
  dataDirectory: string | undefined;
  /** How many times faster waiting passes. */
  speed: number;
  allowedOrigins: readonly string[];
  /** The name server that proofs of domains ask, as IP:port; undefined: this machine's. */
  nameServer: string | undefined;
  /** Another HIBP-compatible server than the embedded one, without a slash at its end. */
  hibpUrl: string | undefined;
  /** The directory that the embedded HIBP server answers from; undefined: the built-in breaches. */
  breachesDirectory: string | undefined;
  /** The plan of the embedded HIBP server; undefined: one that includes everything, without a rate that is felt. */
  plan: PlanName | undefined;
  /** How DynamoDB behaves beyond what its engine does. */
  dynamodb: BehaviourSettings;
  transactionKeys: TransactionKeys;
  /** Options of the stack, which checks them: the identity provider that people sign in by. */
  identityProvider: { oidcIssuer?: string; oidcClientId?: string; oidcRequire?: string };
  withDemo: boolean;
};

const options = {
  port: { type: "string" },
  data: { type: "string" },
  memory: { type: "boolean" },
  speed: { type: "string" },
  "allow-origin": { type: "string", multiple: true },
  dns: { type: "string" },
  "hibp-url": { type: "string" },
  breaches: { type: "string" },
  plan: { type: "string" },
  "table-latency": { type: "string" },
  "lost-replies": { type: "string" },
  "index-lag": { type: "string" },
  "transaction-keys": { type: "string" },
  "oidc-issuer": { type: "string" },
  "oidc-client-id": { type: "string" },
  "oidc-require": { type: "string" },
  "no-demo": { type: "boolean" },
} as const;

/** What `--help` prints. */
export const usage = `Usage: npm start -- [option]...

  --port N              where it listens: 3000 unless given; 0 takes a free port
  --data DIR            where data is kept: .local/<port> unless given
  --memory              keeps no data
  --speed N             waiting passes N times faster: 3600 makes an hour a second
  --allow-origin URL    may be alerted although it is not public HTTPS; repeatable
  --dns IP:PORT         the name server that is asked for the records that prove domains
  --hibp-url URL        another HIBP-compatible server than the embedded one; its key in HIBP_API_KEY
  --breaches DIR        the embedded HIBP server answers from catalog.json and accounts.json there
  --plan NAME           the embedded HIBP server has the plan core, pro or high-rpm, and its rate
  --table-latency R/W/T milliseconds that reads, writes and transactions take besides the engine's
  --lost-replies N      the probability that the reply to a write gets lost after it was done
  --index-lag N         milliseconds by which the table's indexes lag behind it
  --transaction-keys W  keys that IAM sees for a write of a transaction: all of the transaction's, its own, or none
  --oidc-issuer URL     the OpenID Connect provider that people sign in by; the client's secret in OIDC_CLIENT_SECRET
  --oidc-client-id ID   this service's id at the provider
  --oidc-require C=V    refuses whoever lacks this claim and value of the provider, such as hd=acme.com
  --no-demo             makes no demo organization
`;

/** Whether the person asks for help, whatever other options there are. */
export const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

/**
 * Reads the command line. Paths are relative to `workingDirectory`. Without --data, each port has a directory
 * of its own below `defaultDirectory`: runs of one checkout do not meet. Throws an error with one sentence
 * for the person who typed it.
 */
export const readCommandLine = (
  args: string[],
  { workingDirectory, defaultDirectory }: { workingDirectory: string; defaultDirectory: string },
): Settings => {
  const values = parse(args);
  const port = readNumber(
    "--port",
    values.port ?? "3000",
    "a whole number from 0 to 65535",
    (value) => /^\d+$/.test(value) && Number(value) < 65_536,
  );
  if (values.memory && values.data !== undefined) {
    throw new Error("--memory keeps no data, so it can't be used with --data.");
  }
  for (const option of ["breaches", "plan"] as const) {
    if (values["hibp-url"] !== undefined && values[option] !== undefined)
      throw new Error(`--${option} is for the embedded HIBP server, so it can't be used with --hibp-url.`);
  }
  const readDirectory = (option: string, path: string | undefined) => {
    if (path === "") throw new Error(`${option} must name a directory, not "".`);
    return path === undefined ? undefined : resolve(workingDirectory, path);
  };
  return {
    port,
    dataDirectory: values.memory
      ? undefined
      : (readDirectory("--data", values.data) ?? join(defaultDirectory, String(port))),
    speed: readNumber(
      "--speed",
      values.speed ?? "1",
      "a number from 1 to 1000000",
      (value) => Number(value) >= 1 && Number(value) <= 1_000_000,
    ),
    allowedOrigins: (values["allow-origin"] ?? []).map(readOrigin),
    nameServer: values.dns === undefined ? undefined : readNameServer(values.dns),
    hibpUrl:
      values["hibp-url"] === undefined
        ? undefined
        : readHttpUrl("--hibp-url", values["hibp-url"]).href.replace(/\/+$/, ""),
    breachesDirectory: readDirectory("--breaches", values.breaches),
    plan: values.plan === undefined ? undefined : readChoice("--plan", values.plan, planNames),
    dynamodb: {
      conflicts: true,
      latency: readLatency(values["table-latency"] ?? "0/0/0"),
      lostReplies: readNumber(
        "--lost-replies",
        values["lost-replies"] ?? "0",
        "a number from 0 to below 1",
        (value) => Number(value) >= 0 && Number(value) < 1,
      ),
      indexLag: readNumber(
        "--index-lag",
        values["index-lag"] ?? "0",
        "a whole number from 0 to 99999",
        (value) => /^\d{1,5}$/.test(value),
      ),
    },
    transactionKeys: readChoice("--transaction-keys", values["transaction-keys"] ?? "all", transactionKeys),
    identityProvider: {
      ...(values["oidc-issuer"] !== undefined && { oidcIssuer: values["oidc-issuer"] }),
      ...(values["oidc-client-id"] !== undefined && { oidcClientId: values["oidc-client-id"] }),
      ...(values["oidc-require"] !== undefined && { oidcRequire: values["oidc-require"] }),
    },
    withDemo: !values["no-demo"],
  };
};

const parse = (args: string[]) => {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // parseArgs has no codes for these errors, so its messages are read.
    const [, ambiguous] = /^Option '(--[\w-]+).*' argument is ambiguous/.exec((error as Error).message) ?? [];
    if (ambiguous !== undefined) {
      throw new Error(`A value that begins with a hyphen is given as ${ambiguous}=VALUE.`);
    }
    // A person needs the first sentence only; the next ones explain positional arguments.
    const [sentence] = (error as Error).message.split(/\. (?=To )|\n/);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new Error(`${sentence?.replace(/\.$/, "")}. The options are ${known.join(", ")}.`);
  }
};

const readNumber = (
  option: string,
  value: string,
  range: string,
  isValid: (value: string) => boolean,
): number => {
  if (value.trim() === "" || !isValid(value)) {
    throw new Error(`${option} must be ${range}, not "${value}".`);
  }
  return Number(value);
};

const readLatency = (value: string): BehaviourSettings["latency"] => {
  const [, read, write, transaction] = /^(\d{1,4})\/(\d{1,4})\/(\d{1,4})$/.exec(value) ?? [];
  if (read === undefined) {
    throw new Error(`--table-latency takes three times in milliseconds, such as 4/8/30, not "${value}".`);
  }
  return { read: Number(read), write: Number(write), transaction: Number(transaction) };
};

const readChoice = <Choice extends string>(
  option: string,
  value: string,
  choices: readonly Choice[],
): Choice => {
  const chosen = choices.find((each) => each === value);
  if (chosen === undefined) throw new Error(`${option} must be ${choices.join(" or ")}, not "${value}".`);
  return chosen;
};

const readOrigin = (value: string): string => {
  const url = readHttpUrl("--allow-origin", value);
  if (url.href !== `${url.origin}/`) {
    throw new Error(`--allow-origin takes an origin without a path, such as ${url.origin}, not "${value}".`);
  }
  return url.origin;
};

const readNameServer = (value: string): string => {
  const [, address = "", port = ""] = /^(.*):(\d{1,5})$/.exec(value) ?? [];
  if (!isIPv4(address) || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error(`--dns takes an IPv4 address and a port, such as 127.0.0.1:5353, not "${value}".`);
  }
  return value;
};

const readHttpUrl = (option: string, value: string): URL => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new Error(`${option} must be an http or https URL, not "${value}".`);
  }
  return url;
};
