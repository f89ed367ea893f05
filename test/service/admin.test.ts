import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { commands } from "../../bin/admin/commands.ts";
import { connect } from "../../bin/admin/connect.ts";
import { help } from "../../bin/admin/help.ts";
import { print, printPage } from "../../bin/admin/print.ts";
import { noteRun } from "../../local/runs.ts";
import type * as sessions from "../../shared/access/sessions/session.ts";
import { condition } from "../../shared/aws/table/condition.ts";
import { dueIndex, dueShardsOf, type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { addPasskey } from "../dashboard/passkeys.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { timestamp } from "../endpoints/reply.ts";
import { admin, commandLine } from "./admin.ts";
import { createOrganization } from "./organization.ts";
import { scan } from "./scan.ts";

const servers: Server[] = [];

const directory = mkdtempSync(join(tmpdir(), "admin-"));
writeFileSync(
  join(directory, "config"),
  `[profile sso]
sso_start_url = https://acme.awsapps.com/start
sso_region = us-east-1
sso_account_id = 111122223333
sso_role_name = Operator
`,
);

afterAll(() => {
  rmSync(directory, { recursive: true });
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that answers every request alike; gives the port. */
const startServer = async (status: number, body: string): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return String((server.address() as AddressInfo).port);
};

const entry = join(import.meta.dirname, "../../bin/admin.ts");

/** Runs the real command line without the machine's AWS settings. */
const run = (
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<{ status: number; output: string; error: string }> =>
  new Promise((resolve) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, ...variables };
    execFile(process.execPath, [entry, ...args], { env }, (error, output, errorText) =>
      resolve({ status: error === null ? 0 : Number(error.code), output, error: errorText }),
    );
  });

describe("a service that cannot be reached says why in one sentence", () => {
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    vi.stubEnv("HOME", "/nonexistent");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("AWS_CONFIG_FILE", join(directory, "config"));
  });
  afterEach(() => vi.unstubAllEnvs());
  const isOther = (port: string): string =>
    `What answers on port ${port} is not this service: name its port with --port, or a deployed stack with --stack.`;

  test("and exits 1", async () => {
    const port = await startServer(200, "{}");
    expect(await run(["org", "show", "--org", "1", "--port", port])).toEqual({
      status: 1,
      output: "",
      error: `${isOther(port)}\n`,
    });
  });

  test.each([
    [404, "<!doctype html>"],
    [200, "<!doctype html>"],
    [200, "null"],
  ] as const)("another server's %i %s", async (status, body) => {
    const port = await startServer(status, body);
    await expect(connect({ port, stack: undefined })).rejects.toThrow(isOther(port));
  });

  const credentials = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const described = (outputs: string) =>
    `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">` +
    "<DescribeStacksResult><Stacks><member><StackName>shop</StackName>" +
    `<Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const refused = (code: string, message: string) =>
    `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">` +
    `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
  const reach = (stack: string, variables: Record<string, string>) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    return connect({ port: undefined, stack });
  };

  test.each([
    [400, refused("ValidationError", "Stack with id shop does not exist"), "There is no stack shop in this"],
    [403, refused("ExpiredToken", "The token is expired."), "credentials: The token is expired."],
    [200, described(""), "The stack shop is not this service's"],
    [
      200,
      described("<member><OutputKey>TableName</OutputKey><OutputValue>t</OutputValue></member>"),
      "The stack shop is not this service's",
    ],
  ] as const)("CloudFormation's %i %s", async (status, body, sentence) => {
    const AWS_ENDPOINT_URL_CLOUDFORMATION = `http://127.0.0.1:${await startServer(status, body)}`;
    await expect(reach("shop", { ...credentials, AWS_ENDPOINT_URL_CLOUDFORMATION })).rejects.toThrow(
      sentence,
    );
  });

  test.each([
    ["shop", {}, "No AWS region is set"],
    ["shop", { AWS_REGION: "us-east-1" }, "No AWS credentials were found"],
    [
      "shop",
      { AWS_REGION: "us-east-1", AWS_PROFILE: "sso" },
      "To refresh this SSO session run aws sso login",
    ],
    ["", credentials, "--stack must name a stack"],
  ] as const)("--stack %j with %j", async (stack, variables, sentence) => {
    await expect(reach(stack, variables)).rejects.toThrow(sentence);
  });
});

test.each(["bin/admin.ts", "bin/setup.ts", "bench/run.ts", "local/start.ts"])(
  "%s makes no error when its reader ends first, as head does",
  async (program) => {
    const path = join(import.meta.dirname, "../..", program);
    const child = spawn(process.execPath, [path, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [error, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect({ error, status }).toEqual({ error: "", status: 0 });
  },
);

test("a table that refuses is told with where the permissions are", async () => {
  const denied = JSON.stringify({ __type: "AccessDeniedException", message: "ada may not read" });
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${await startServer(400, denied)}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "ada",
    AWS_SECRET_ACCESS_KEY: "test",
  };
  const names = ["TableName", "OutboxQueueUrl", "DeliveriesQueueUrl", "AcknowledgementsQueueUrl"];
  const outputs = Object.fromEntries([...names, "ChannelKeyParameter"].map((name) => [name, name]));
  const port = await startServer(200, JSON.stringify({ outputs, environment }));
  expect(await run(["org", "list", "--port", port])).toMatchObject({
    status: 1,
    error: "The command failed: ada may not read. docs/deploy.md lists the permissions that it needs.\n",
  });
});

describe.concurrent("help", () => {
  test.for(["help org create", "org create --name Acme -h"])(
    "%s tells only of this command, with the values that flags take",
    async (line, { expect }) => {
      const { status, output, error } = await run(line.split(" "));
      expect({ status, error }).toEqual({ status: 0, error: "" });
      expect(output).toMatch(
        /^Usage: npm run admin -- org create \[--flag value\]\.\.\.\n\nCreates an organization[^\n]+\.\n\n/,
      );
      expect(output.split("\n")).toEqual(
        expect.arrayContaining([
          "  --name NAME",
          "  [--interval month|year]",
          expect.stringContaining("[--billing trialing|active|past_due|"),
          "  [--json] [--port N | --stack NAME]",
        ]),
      );
      expect(output).not.toMatch(/domain|org list/);
    },
  );

  test("of a noun lists its commands, and without a noun all, each with a sentence", ({ expect }) => {
    expect(help("delivery")?.match(/^ {2}\S.*/gm)).toEqual([
      "  delivery retry --org ID [--delivery ID] [--channel ID|owners]",
      expect.stringMatching(/^ {2}delivery list .* \[--status pending\|retrying\|delivered\|not-delivered\]/),
    ]);
    const all = help("");
    expect(all?.match(/^ {2}[a-z][a-z-]*( [a-z][a-z-]*)?/gm)?.map((name) => name.trim())).toEqual(
      Object.keys(commands),
    );
    expect(all).not.toContain("VALUE");
    for (const { about } of Object.values(commands)) expect(about).toMatch(/^[A-Z].*\.$/);
  });
});

describe.concurrent("a wrong command line", () => {
  test.for([
    ["org make --help", 'There is no command "org make": "npm run admin -- help" lists them.'],
    ["constructor", 'There is no command "constructor": "npm run admin -- help" lists them.'],
    ["org delete --org 1 --org 2", "Give --org once."],
    ["scan schedule --org 1", '"scan schedule" needs --every day|week|never.'],
    ["--json org show", "Name the command before its flags."],
    [
      "org show --org -1",
      'A value that begins with a hyphen is given as --org=VALUE: "npm run admin -- help org show" shows its flags.',
    ],
    ["org show --name A", `Unknown option '--name': "npm run admin -- help org show" shows its flags.`],
  ] as const)("%s", async ([line, sentence], { expect }) => {
    const { status, error } = await run(line.split(" "));
    expect({ status, error }).toEqual({ status: 1, error: `${sentence}\n` });
  });

  test("numbers that are none, or too large", async ({ expect }) => {
    await expect(admin("org show", { org: "99999999999999999999" })).rejects.toThrow(
      "--org: is out of range.",
    );
    await expect(admin("org show", { org: "1.5" })).rejects.toThrow("--org: must be a whole number.");
  });
});

test("org list shows all organizations, newest first, but those being deleted", async () => {
  const first = await admin("org create", { name: "First", billing: "trialing", "scan-every": "never" });
  const gone = await admin("org create", { name: "Gone", "scan-every": "never" });
  await admin("org delete", { org: gone.id, name: "Gone" });
  const second = await admin("org create", { name: "Second", "scan-every": "never" });
  const { organizations } = (await admin("org list", {})) as unknown as { organizations: { id: number }[] };
  const ids = organizations.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
  expect(ids).not.toContain(gone.id);
  expect(organizations).toContainEqual({
    id: first.id,
    name: "First",
    createdAt: first.createdAt,
    billingStatus: "trialing",
    trialEndsAt: (first.billing as { trialEndsAt: string }).trialEndsAt,
  });
  expect(ids).toContain(second.id);
});

test("names are refused that the API refuses", async () => {
  const name = "n".repeat(101);
  const sentence = "must have at most 100 characters.";
  await expect(admin("org create", { name })).rejects.toThrow(`--name: ${sentence}`);
  const { id: org } = await admin("org create", { name: " Trimmed ", "scan-every": "never" });
  expect(await admin("org show", { org })).toMatchObject({ name: "Trimmed" });
  await expect(admin("key create", { org, label: name })).rejects.toThrow(`--label: ${sentence}`);
  await expect(admin("team create", { org, name: "㌀".repeat(100) })).rejects.toThrow(
    "--name: must have fewer",
  );
});

test("an organization is deleted only if its name is given", async () => {
  const { id: org } = await admin("org create", { name: "Precious", "scan-every": "never" });
  const others: Record<string, string>[] = [{}, { name: "" }, { name: "precious" }];
  for (const name of others) {
    await expect(admin("org delete", { org, ...name })).rejects.toThrow(
      `--name must be the name of organization ${org}, as "org show --org ${org}" prints it: all ` +
        "of it is deleted for good.",
    );
  }
  expect(await admin("org show", { org })).toMatchObject({ name: "Precious" });
  expect(await admin("org delete", { org, name: "Precious" })).toEqual({ id: org, deleting: true });
  await expect(admin("org show", { org })).rejects.toThrow(`There is no organization ${org}:`);
});

test("an address belongs to one user; removing a user again tells that it was removed", async () => {
  const { id: org } = await admin("org create", { name: "Users", "scan-every": "never" });
  const email = "ada@acme.example";
  const { id } = await admin("user create", { org, email, role: "admin" });
  await expect(admin("user create", { org, email: " ADA@acme.example", role: "admin" })).rejects.toThrow(
    `The organization already has a user ${email}: "user list --org ${org}" shows it.`,
  );
  const remove = () => admin("user remove", { org, user: id, force: true });
  expect(await remove()).toEqual({ id, removed: true, alreadyRemoved: false });
  expect(await remove()).toEqual({ id, removed: true, alreadyRemoved: true });
  expect((await admin("user create", { org, email, role: "admin" })).id).toBeGreaterThan(id);
});

test("session list shows what session revoke needs, newest first, and no secret", async () => {
  const { id: org } = await admin("org create", { name: "Sessions", "scan-every": "never" });
  const { id: user } = await admin("user create", { org, email: "ada@acme.example", role: "admin" });
  const create = () => admin("session create", { org, user });
  const [first, second, third] = [await create(), await create(), await create()];
  const list = async () => (await admin("session list", { org })).sessions;
  // The table keeps the rows of expired sessions for days.
  const [row] = await table.query<Key & sessions.Session>({
    pk: keys.session(org, 0, "").pk,
    where: condition("#id = :id", { id: third.id }),
  });
  await table.update(row as Key, { set: { expiresAt: Math.floor(Date.now() / 1000) - 1 } });
  const shown = ({ id, expiresAt }: Record<string, unknown>) => ({
    id,
    userId: user,
    email: "ada@acme.example",
    createdAt: expect.any(String),
    createdBy: "operator",
    expiresAt,
  });
  expect(await list()).toEqual([shown(second), shown(first)]);
  await admin("session revoke", { org, session: second.id });
  expect(await list()).toEqual([shown(first)]);
});

test("passkey list shows those of a user; passkey remove removes one and tells of it", async () => {
  const { id: org } = await createOrganization();
  const user = await signedIn(org);
  const { id } = await addPasskey(user.dashboard);
  const list = async () => (await admin("passkey list", { org, user: user.userId })).passkeys;
  expect(await list()).toEqual([{ id, createdAt: timestamp, lastUsedAt: null, browser: null }]);
  const remove = () => admin("passkey remove", { org, user: user.userId, passkey: id });
  expect(await remove()).toEqual({ id, removed: true });
  expect(await list()).toEqual([]);
  await expect(remove()).rejects.toThrow(`The user has no passkey ${id}`);
  const due = dueShardsOf("SIGN-IN-MAIL").map((pk) => table.query<Key>({ index: dueIndex, pk }));
  const mails = await Promise.all((await Promise.all(due)).flat().map((key) => table.get(key)));
  expect(mails).toContainEqual(
    expect.objectContaining({
      email: user.email,
      notice: expect.objectContaining({ about: "passkey", change: "removed" }),
    }),
  );
  const { entries } = await admin("operator-log list", { org });
  expect(entries).toContainEqual(expect.objectContaining({ command: "passkey remove" }));
});

test("scan list shows scans, newest first, by page and status", async () => {
  const { id: org, api, domainId } = await createOrganization();
  await api.post("/emails", { email: "ada@demo.example", domainId });
  const [first, second] = [await scan(api), await scan(api)];
  const line = ({ startedAt: _, findingsItemized: __, ...rest }: Record<string, unknown>) => rest;
  const list = (flags: Record<string, string | number>) => admin("scan list", { org, ...flags });
  expect(await list({})).toEqual({ scans: [line(second), line(first)] });
  expect(await list({ limit: 1 })).toEqual({ scans: [line(second)], nextOffset: 1 });
  expect(await list({ limit: 1, offset: 1, status: "completed" })).toEqual({ scans: [line(first)] });
  expect(await list({ status: "failed" })).toEqual({ scans: [] });
  await expect(list({ status: "done" })).rejects.toThrow(/^--status: .* completed, or failed\.$/);
});

test("a page that is not the last tells the flag that shows the next", () => {
  expect(printPage({ scans: [{ id: 2 }], nextOffset: 1 })).toBe(
    "id\n2\nThere are more: --offset 1 shows the next.\n",
  );
  expect(printPage({ scans: [] })).toBe("No scans.\n");
});

test("the fields of a row are shown in an order of their own", async () => {
  const { id: org } = await admin("org create", { name: "Order", "scan-every": "never" });
  await admin("team create", { org, name: "Team" });
  await admin("user create", { org, email: "ada@acme.example", role: "admin" });
  const shown = (await admin("org show", { org })) as { billing?: object };
  const fields = ["id", "name", "createdAt", "billing", "scanEvery", "mailBudget", "signIn", "sessionHours"];
  expect(Object.keys(shown)).toEqual(fields);
  const { billing } = (await admin("org billing", { org, status: "active" })) as { billing?: object };
  const terms = ["status", "trialEndsAt", "interval", "seatPriceCents", "seatAllowance"];
  for (const each of [shown.billing, billing]) expect(Object.keys(each ?? {})).toEqual(terms);
  const [team] = (await admin("team list", { org })).teams as object[];
  expect(Object.keys(team ?? {})).toEqual(["id", "name", "createdAt"]);
  const [user] = (await admin("user list", { org })).users as object[];
  expect(Object.keys(user ?? {})).toEqual([
    "id",
    "email",
    "name",
    "role",
    "createdAt",
    "lastSignInAt",
    "hasIdentity",
  ]);
});

test("check exits 1 while differences remain, and says what it repaired", async () => {
  const { id: org } = await createOrganization();
  await table.update(keys.seats(org), { add: { active: 2 } });
  await expect(commandLine("check", { org }, inject("apiUrl"))).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"differenceCount":1,'),
  });
  const report = await admin("check", { org, repair: true });
  const { print, isWrong } = commands.check ?? {};
  expect(isWrong?.(report as never)).toBe(false);
  expect(print?.(report as never)).toContain(`repaired: seats ${org}`);
});

test("control and format characters in users' text are escaped for the terminal", () => {
  const name = "a\u202eb\u001b[2Jc\u009bd\u{e0041}é";
  expect(print({ name })).toBe("name  a\\u202eb\\u001b[2Jc\\u009bd\\udb40\\udc41é\n");
});

describe("without --port and --stack", () => {
  const isFree = async (port: number): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => false,
      () => true,
    );

  test("the only local service is meant; of several, none", async ({ skip }) => {
    skip(!(await isFree(3000)), "something answers on port 3000, which comes first");
    const { port } = new URL(inject("apiUrl"));
    const temporary = mkdtempSync(join(directory, "runs-"));
    const list = () => run(["org", "list", "--json"], { TMPDIR: temporary });
    expect((await list()).error).toContain("No local service answers on port 3000");

    vi.stubEnv("TMPDIR", temporary);
    // That of a run that was killed says nothing.
    const { port: killed } = new URL(`http://127.0.0.1:${await startServer(200, "{}")}`);
    const runs = [noteRun(Number(port)), noteRun(Number(killed))];
    expect(JSON.parse((await list()).output)).toMatchObject({ organizations: expect.any(Array) });

    const stack = await (await fetch(new URL("/.local/stack", inject("apiUrl")))).text();
    const other = await startServer(200, stack);
    runs.push(noteRun(Number(other)));
    expect((await list()).error).toMatch(/^Local services run on the ports \d+, \d+: name one with --port\./);
    for (const each of runs) each.close();
    vi.unstubAllEnvs();
    expect((await list()).status).toBe(1);
  });
});
