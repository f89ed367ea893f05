/** What `npm run setup` refuses before it does anything. What it does, the deploy test shows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { CommandError } from "../../bin/admin/error.ts";
import { checkConcurrency, checkSender } from "../../bin/setup/account.ts";
import { complete, type Flags, readFlags } from "../../bin/setup/answers.ts";
import { withContext } from "../../bin/setup/context.ts";
import { parseKey } from "../../bin/setup/hibp-key.ts";

const entry = join(import.meta.dirname, "../../bin/setup.ts");
const cdkJson = join(import.meta.dirname, "../../cdk.json");
const directory = mkdtempSync(join(tmpdir(), "setup-"));
const answers = ["--organization", "Acme", "--user", "ada@acme.com", "--yes"];
const identity =
  "<GetCallerIdentityResponse><GetCallerIdentityResult>" +
  "<Arn>arn:aws:iam::111122223333:user/ada</Arn><UserId>A</UserId><Account>111122223333</Account>" +
  "</GetCallerIdentityResult></GetCallerIdentityResponse>";

/** Lambda's quota of concurrent executions, in regions where the credentials may ask for it. */
const executions: Record<string, number> = { "eu-north-1": 10, "eu-south-1": 1_000 };

/** AWS, which knows the credentials and allows little else; or not even that, in the region "nowhere". */
const aws = createServer(async (request, response) => {
  const [, region = ""] = /\d{8}\/([^/]+)\//.exec(request.headers.authorization ?? "") ?? [];
  if (request.url?.endsWith("/account-settings") && region in executions) {
    const AccountLimit = { ConcurrentExecutions: executions[region] };
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ AccountLimit }));
  }
  const isKnown = !request.headers.authorization?.includes("/nowhere/");
  if (isKnown && (await text(request)).includes("GetCallerIdentity")) return response.end(identity);
  const error = { __type: "AccessDeniedException", message: "User ada is not authorized" };
  if (request.headers["content-type"] === "application/x-www-form-urlencoded") {
    const { __type, message } = error;
    response
      .writeHead(403)
      .end(
        `<ErrorResponse><Error><Code>${__type}</Code><Message>${message}</Message></Error></ErrorResponse>`,
      );
  } else response.writeHead(403, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(error));
});
let variables: Record<string, string>;
beforeAll(async () => {
  await new Promise<void>((resolve) => aws.listen(0, "127.0.0.1", resolve));
  variables = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "eu-west-1",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
  };
});
beforeEach(() => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => {
  aws.close();
  rmSync(directory, { recursive: true });
});

const setUp = async (args: string[], environment: Record<string, string | undefined> = {}, input = "") => {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: process.env.PATH, ...variables, ...environment },
    stdio: "pipe",
  });
  child.stdin.end(input);
  const [output, error, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { output, error, status };
};

/** What setup says of these arguments before it asks AWS for anything but the sender. */
const refusalOf = async (args: string[]): Promise<unknown> => {
  try {
    const answered = await complete(readFlags(args) as Flags);
    await checkSender(answered.senderEmail ?? "");
  } catch (error) {
    return error;
  }
};

test.each([
  ["an unknown option", ["--organisation", "Acme"], "Unknown option '--organisation': \"npm run setup"],
  ["a stage in capitals", ["--stage", "Production"], "--stage: must be 1 to 27 lower-case letters, digits"],
  ["a folder without an assembly", ["--app", directory], `--app: there is no manifest.json in ${directory}.`],
  ["no answers and nobody to ask", ["--yes"], "Give --organization, as there is nobody to ask."],
  ["nobody to confirm", answers.slice(0, -1), "Give --yes and every answer, as there is nobody to ask."],
  ["no address", [...answers, "--user", "ada"], "--user: must be an e-mail address, with ASCII letters"],
  ["a webhook that is no url", [...answers, "--webhook", "acme.com"], "--webhook must be a url, such as "],
  ["no domain", [...answers, "--domain", "acme"], "--domain: must be a domain name"],
  [
    "a domain that nobody owns",
    [...answers, "--domain", "gmail.com"],
    "--domain: is a provider of mailboxes",
  ],
  [
    "a sender that SES cannot be asked about",
    [...answers, "--sender-email", "a@acme.com"],
    "Amazon SES could not be asked about the sender: User ada is not authorized.",
  ],
])("%s is refused in one sentence", async (_, args, sentence) => {
  const refusal = await refusalOf(args);
  expect(refusal).toBeInstanceOf(CommandError);
  const { message } = refusal as CommandError;
  expect(message.startsWith(sentence), message).toBe(true);
  expect(message).not.toContain("\n");
});

test("credentials that AWS refuses are told before anything is asked", async () => {
  expect(await setUp(answers, { AWS_REGION: "nowhere" })).toEqual({
    output: "",
    error: "AWS did not accept these credentials: User ada is not authorized.\n",
    status: 1,
  });
});

test("no key, or two words, on standard input is refused without being repeated", async () => {
  expect(() => parseKey("\n")).toThrow(
    "The API key of Have I Been Pwned is needed: in HIBP_API_KEY, at the terminal, or on standard input.",
  );
  expect(await setUp(answers, {}, "secret words\n")).toMatchObject({
    error: "What was given as API key of Have I Been Pwned has characters that no key has.\n",
    status: 1,
  });
});

test("credentials that allow nothing end it at its first step", async () => {
  const before = readFileSync(cdkJson, "utf8");
  const alarms = ["--alarm-email", "ops@acme.com"];
  const { output, error, status } = await setUp([...answers, ...alarms], {
    HIBP_API_KEY: " 0123456789abcdef ",
  });
  expect(output).toContain(
    "AWS account 111122223333, region eu-west-1, as arn:aws:iam::111122223333:user/ada\n",
  );
  expect(output).toContain(
    "  2. Deploy the stack breach-monitor-production with alarmEmail=ops@acme.com, which cdk.json keeps\n",
  );
  expect(output).toContain('  4. Create the organization "Acme"\n');
  expect(error).toBe("It could not be looked up whether CDK is bootstrapped: User ada is not authorized.\n");
  expect(output + error).not.toContain("0123456789abcdef");
  expect(status).toBe(1);
  expect(readFileSync(cdkJson, "utf8")).toBe(before);
});

test.each([
  ["a new account", "eu-north-1", "Note: Lambda runs 10 functions at once in this account and region."],
  [
    "a foreign account",
    "eu-west-1",
    "Note: Lambda's quota of concurrent executions could not be looked up: ",
  ],
  ["an account with the quota", "eu-south-1", undefined],
])("%s is told of Lambda's quota if that may be too small", async (_, region, notice) => {
  vi.stubEnv("AWS_REGION", region);
  const notices = await checkConcurrency({ id: "111122223333", region, caller: "ada" });
  expect(notices[0]).toEqual(notice && expect.stringContaining(notice));
  const request = `--region ${region} --service-code lambda`;
  expect(notices.some((line) => line.includes(request))).toBe(region === "eu-north-1");
});

test("options go into cdk.json, whose other lines stay as they are", () => {
  const text = readFileSync(cdkJson, "utf8");
  const senderEmail = "$&@acme.com";
  const once = withContext(text, { alarmEmail: "former@acme.com", senderEmail });
  const twice = withContext(once, { alarmEmail: "ops@acme.com" });
  const { context, ...others } = JSON.parse(text);
  expect(JSON.parse(twice)).toEqual({
    ...others,
    context: { ...context, alarmEmail: "ops@acme.com", senderEmail },
  });
  const lines = twice.split("\n");
  expect(text.split("\n").filter((line) => !lines.includes(line))).toEqual([]);
  expect(lines).toHaveLength(text.split("\n").length + 2);
});

test.each(['{"app":"x"}', '{"app":"x","context":{}}', '{"context":{"alarmEmail" : "\\"a\\"@b"},"app":"x"}'])(
  "options go into %s, however it is written",
  (text) => {
    const alarmEmail = "ops@acme.com";
    expect(JSON.parse(withContext(text, { alarmEmail }))).toEqual({ app: "x", context: { alarmEmail } });
  },
);
