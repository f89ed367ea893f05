import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** What `npm start` was asked for. */
export interface Settings {
  /** 0: a free one. */
  readonly port: number;
  /** Where data stays; undefined: nowhere. */
  readonly dataDirectory: string | undefined;
  /** How many times faster waiting passes. */
  readonly speed: number;
  readonly allowedOrigins: readonly string[];
  /** Another HIBP-compatible server than the embedded one, without a slash at its end. */
  readonly hibpUrl: string | undefined;
  /** What the embedded server answers from; undefined: the built-in breaches. */
  readonly breachesDirectory: string | undefined;
  readonly withDemo: boolean;
}

const options = {
  port: { type: "string" },
  data: { type: "string" },
  memory: { type: "boolean" },
  speed: { type: "string" },
  "allow-origin": { type: "string", multiple: true },
  "hibp-url": { type: "string" },
  breaches: { type: "string" },
  "no-demo": { type: "boolean" },
} as const;

/** What `--help` prints. */
export const usage = `Usage: npm start -- [option]...

  --port N              where it listens: 3000 unless given; 0 takes a free port
  --data DIR            where data is kept: .local/<port> unless given
  --memory              keeps no data
  --speed N             waiting passes N times faster: 3600 makes an hour a second
  --allow-origin URL    may be alerted although it is not public HTTPS; repeatable
  --hibp-url URL        another HIBP-compatible server than the embedded one; its key in HIBP_API_KEY
  --breaches DIR        the embedded HIBP server answers from catalog.json and accounts.json there
  --no-demo             makes no demo organization
`;

/** Whether the person asks how to use it, whatever else there is. */
export const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

/**
 * Reads the command line. Paths are relative to `workingDirectory`. Without --data, data goes to a directory of its own
 * for each port below `defaultDirectory`, so that several runs of one checkout don't meet.
 * @throws Error with one sentence for the person who typed it.
 */
export function readCommandLine(
  args: string[],
  {
    workingDirectory,
    defaultDirectory,
  }: { readonly workingDirectory: string; readonly defaultDirectory: string },
): Settings {
  const values = parse(args);
  const port = readNumber(
    "--port",
    values.port ?? "3000",
    (value) => /^\d+$/.test(value) && Number(value) < 65_536,
  );
  if (values.memory && values.data !== undefined) {
    throw new Error("--memory keeps no data, so it can't be used with --data.");
  }
  if (values["hibp-url"] !== undefined && values.breaches !== undefined) {
    throw new Error("--breaches is for the embedded HIBP server, so it can't be used with --hibp-url.");
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
      (value) => Number(value) >= 1 && Number(value) <= 1_000_000,
    ),
    allowedOrigins: (values["allow-origin"] ?? []).map(readOrigin),
    hibpUrl: values["hibp-url"] === undefined ? undefined : readHibpUrl(values["hibp-url"]),
    breachesDirectory: readDirectory("--breaches", values.breaches),
    withDemo: !values["no-demo"],
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const [, ambiguous] = /^Option '(--[\w-]+).*' argument is ambiguous/.exec((error as Error).message) ?? [];
    if (ambiguous !== undefined) {
      throw new Error(`A value that begins with a hyphen is given as ${ambiguous}=VALUE.`);
    }
    // Node's messages go on to explain positional arguments; their first sentence is what a person needs.
    const [sentence] = (error as Error).message.split(/\. (?=To )|\n/);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new Error(`${sentence?.replace(/\.$/, "")}. The options are ${known.join(", ")}.`);
  }
}

const ranges: Record<string, string> = {
  "--port": "a whole number from 0 to 65535",
  "--speed": "a number from 1 to 1000000",
};

function readNumber(option: string, value: string, isValid: (value: string) => boolean): number {
  if (value.trim() === "" || !isValid(value)) {
    throw new Error(`${option} must be ${ranges[option]}, not "${value}".`);
  }
  return Number(value);
}

function readOrigin(value: string): string {
  const url = readHttpUrl("--allow-origin", value);
  if (url.href !== `${url.origin}/`) {
    throw new Error(`--allow-origin takes an origin without a path, such as ${url.origin}, not "${value}".`);
  }
  return url.origin;
}

function readHibpUrl(value: string): string {
  const url = readHttpUrl("--hibp-url", value);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new Error("--hibp-url takes a URL without credentials, query or fragment.");
  }
  return url.href.replace(/\/+$/, "");
}

function readHttpUrl(option: string, value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new Error(`${option} must be an http or https URL, not "${value}".`);
  }
  return url;
}
