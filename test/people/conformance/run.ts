/**
 * Runs others' programs that check servers of SCIM against a local service: scim2-tester, by its command line,
 * and scim-sanity. Prints what they report, and ends with 1 if they find a failure that is not among those
 * below. Needs Python 3 with venv and pip, which fetches the programs into a folder of this run.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startService } from "../../../local/harness/service.ts";
import { needPython } from "../../needs.ts";

needPython();

const packages = [
  "scim2-cli==0.6.0",
  "scim2-tester==0.5.2",
  "scim2-client==0.13.2",
  "scim2-models==0.12.3",
  "scim-sanity==0.7.4",
];

/** What the programs want otherwise, by design. Each must occur, so that none outlives its reason. */
const expected: { failure: RegExp; why: string }[] = [
  {
    failure: /^scim-sanity: PATCH \/Groups\/\{id\} add member: Expected 200, got 400$/,
    why: "It adds a member that does not exist. Members are users of the directory.",
  },
  {
    failure: /^scim-sanity: PATCH \/Groups\/\{id\}: Expected HTTP 200, got 204 .*; Response body is empty$/,
    why: "RFC 7644 allows 204, and Entra asks for it, since members of large groups are not to be told.",
  },
  {
    failure: /^scim-sanity: PATCH \/Groups\/\{id\} remove members: Expected 200, got 204$/,
    why: "The same.",
  },
  {
    failure:
      /^scim2-tester: ERROR check_remove_attribute: PATCH modify\(\) did not remove attribute 'active'$/,
    why: "Who is not said to be inactive is active.",
  },
  {
    failure:
      /^scim2-tester: ERROR check_(add|replace)_attribute: .* unexpected value for '.*:passwordChangedAt'/,
    why: "It compares the text of the time that it sent with the time that it read.",
  },
];

const project = join(import.meta.dirname, "../../..");
const scratch = await mkdtemp(join(tmpdir(), "scim-"));

// biome-ignore lint/suspicious/noExplicitAny: what SCIM describes
type Json = any;

type Printed = { stdout: string; stderr: string };
const run = async (program: string, args: readonly string[], env = {}): Promise<Printed> =>
  promisify(execFile)(program, args, { cwd: scratch, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 });

/** Programs that end with 1 because they found something have printed it all the same. */
const report = (program: string, args: readonly string[], env = {}): Promise<string> =>
  run(join(scratch, "python/bin", program), args, env).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr, code }) => {
      if (code !== 1 || stdout === "") throw new Error(`${program} ended with ${code}: ${stderr}`);
      return stdout;
    },
  );

const service = await startService(["--memory"]);

const admin = async (...args: string[]): Promise<Record<string, unknown>> => {
  const port = ["--json", "--port", new URL(service.apiUrl).port];
  const { stdout } = await run(process.execPath, [join(project, "bin/admin.ts"), ...args, ...port]);
  return JSON.parse(stdout);
};

const createDirectory = async (): Promise<{ url: string; token: string }> => {
  const { id } = await admin("org", "create", "--name", "Acme", "--scan-every", "never");
  const org = ["--org", String(id)];
  await admin("domain", "add", ...org, "--name", "demo.example", "--verified");
  const user = await admin("user", "create", ...org, "--email", "ada@demo.example", "--role", "admin");
  const { cookie } = await admin("session", "create", ...org, "--user", String(user.id));
  const { origin } = new URL(service.apiUrl);
  const reply = await fetch(`${origin}/api/dashboard/directories`, {
    method: "POST",
    headers: { cookie: String(cookie), origin, "content-type": "application/json" },
    body: JSON.stringify({ name: "Conformance" }),
  });
  if (reply.status !== 201) throw new Error(`POST /directories: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as { url: string; token: string };
};

type Result = { isFailure: boolean; line: string };

/** Each check is a line with its status and name, and below what was found. */
const scim2Tester = async (url: string, token: string): Promise<Result[]> => {
  const authorization = `Bearer ${token}`;
  const resourcesAt = async (path: string): Promise<Json[]> => {
    const reply = await fetch(`${url}${path}`, { headers: { authorization } });
    return ((await reply.json()) as { Resources: Json[] }).Resources;
  };
  // It makes up values for attributes, but knows none for times.
  const withExample = (attribute: Json): Json =>
    attribute.type === "dateTime" ? { ...attribute, canonicalValues: ["2026-11-03T08:15:00Z"] } : attribute;
  const schemas = await resourcesAt("/Schemas");
  const described = {
    "schemas.json": schemas.map((schema) => ({ ...schema, attributes: schema.attributes.map(withExample) })),
    "types.json": await resourcesAt("/ResourceTypes"),
  };
  for (const [name, content] of Object.entries(described))
    await writeFile(join(scratch, name), JSON.stringify(content));
  const files = ["--schemas", "schemas.json", "--resource-types", "types.json"];
  const printed = await report("scim2", ["--url", url, ...files, "test"], {
    SCIM_CLI_HEADERS: `Authorization: ${authorization}`,
  });
  const checks = /^([A-Z]+) ([a-z_]+)\n([\s\S]*?)(?=^[A-Z]+ [a-z_]+\n|(?![\s\S]))/gm;
  return [...printed.matchAll(checks)].map(([, status, name, found = ""]) => ({
    isFailure: status !== "SUCCESS" && status !== "SKIPPED",
    line: `scim2-tester: ${status} ${name}: ${found.trim().replaceAll(/\s*\n\s*/g, " ")}`,
  }));
};

const scimSanity = async (url: string, token: string): Promise<Result[]> => {
  const args = ["probe", url, "--token", token, "--json-output", "--i-accept-side-effects"];
  const printed = JSON.parse(await report("scim-sanity", [...args, "--user-domain", "demo.example"]));
  type Found = { name: string; status: string; message?: string };
  return printed.results.map(({ name, status, message = "" }: Found) => ({
    isFailure: !["pass", "skip"].includes(status),
    line: `scim-sanity: ${name}: ${message}`,
  }));
};

try {
  await run("python3", ["-m", "venv", "python"]);
  const pip = ["install", "--quiet", "--disable-pip-version-check", ...packages];
  await run(join(scratch, "python/bin/pip"), pip);
  const { url, token } = await createDirectory();
  const results = [...(await scim2Tester(url, token)), ...(await scimSanity(url, token))];
  const isExpected = (line: string) => expected.some(({ failure }) => failure.test(line));
  const failures = results.filter(({ isFailure, line }) => isFailure && !isExpected(line));
  for (const { isFailure, line } of results)
    console.log(`${isFailure ? (isExpected(line) ? "expected" : "FAILED") : "ok"}: ${line}`);
  const stale = expected.filter(({ failure }) => !results.some(({ line }) => failure.test(line)));
  for (const { failure } of stale) console.log(`FAILED: nothing fails as ${failure} any more`);
  console.log(`${results.length} checks, ${failures.length} failed`);
  if (failures.length + stale.length > 0 || results.length < 100) process.exitCode = 1;
} finally {
  await service.stop();
  await rm(scratch, { recursive: true, force: true });
}
