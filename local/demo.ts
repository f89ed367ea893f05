import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillDemo } from "./demo-data.ts";

/** Ids and the API key of the demo organization. */
export type Demo = { organizationId: number; domainId: number; key: string; userId: number };

type Settings = {
  /** Where what was made is noted. */
  directory: string;
  /** The port of the local service. */
  port: number;
  /** Where a webhook fails. */
  brokenUrl: string;
  signal: AbortSignal;
};

type AdminSettings = Pick<Settings, "port" | "signal">;

type Admin = (...args: string[]) => Promise<Record<string, unknown>>;

const projectDirectory = join(import.meta.dirname, "..");
const name = "Demo";
const domainName = "demo.example";
const userEmail = "you@demo.example";

/**
 * Finds the demo organization that an earlier run recorded in `directory`. Else makes one through the admin
 * command line and the API. It has a verified domain, a key, a user, and invented addresses and findings.
 * Rejects with the admin command's sentence.
 */
export const createDemo = async (settings: Settings): Promise<Demo> => {
  const file = join(settings.directory, "demo.json");
  const admin = adminOf(settings);
  const noted = await readDemo(file);
  if (noted !== undefined && (await isWhole(noted, settings, admin))) return noted;
  const create = async (noun: string, verb: string, ...args: string[]) =>
    (await admin(noun, verb, ...args)) as { id: number; key: string };
  const { id: organizationId } = await create("org", "create", "--name", name);
  const ofOrganization = ["--org", String(organizationId)];
  const domain = await create("domain", "add", ...ofOrganization, "--name", domainName, "--verified");
  const { key } = await create("key", "create", ...ofOrganization, "--label", name);
  const user = await create(
    "user",
    "create",
    ...ofOrganization,
    "--email",
    userEmail,
    "--name",
    "You",
    "--role",
    "admin",
  );
  const demo = { organizationId, domainId: domain.id, key, userId: user.id };
  const session = admin("session", "create", ...ofOrganization, "--user", String(user.id));
  await fillDemo(key, { ...settings, cookie: session.then(({ cookie }) => cookie as string) });
  // Last: a start that was interrupted leaves an unfinished organization, and the next start makes another one.
  await writeFile(file, JSON.stringify(demo), { mode: 0o600 });
  return demo;
};

/** A link with which a browser signs in as the demo organization's user, once and within 15 minutes. */
export const createSignInLink = async (
  { organizationId, userId }: Demo,
  settings: AdminSettings,
): Promise<string> => {
  const ids = ["--org", String(organizationId), "--user", String(userId)];
  return (await adminOf(settings)("user", "sign-in-link", ...ids)).url as string;
};

const adminOf =
  ({ port, signal }: AdminSettings): Admin =>
  async (...args) => {
    const command = [join(projectDirectory, "bin", "admin.ts"), ...args, "--json", "--port", String(port)];
    const options = { signal, killSignal: "SIGKILL" } as const;
    const { stdout } = await promisify(execFile)(process.execPath, command, options).catch((error) => {
      const [sentence] = String(error.stderr ?? "")
        .trim()
        .split("\n");
      throw new Error(sentence || error.message);
    });
    return JSON.parse(stdout);
  };

/** The link and the commands to try first, ready to click and to paste. */
export const describeDemo = ({ domainId, key }: Demo, signInLink: string, url: string): string => {
  const header = `-H 'Authorization: Bearer ${key}'`;
  return [
    `Open the dashboard (this link works once, for 15 minutes): ${signInLink}`,
    `The organization "Demo" watches ${domainName}. Its API key: ${key}`,
    "Try these, one after the other:",
    `  curl -X POST ${url}/emails ${header} -H 'Content-Type: application/json' -d '{"email": ` +
      `"ada@${domainName}", "domainId": ${domainId}}'`,
    `  curl -X POST ${url}/scans ${header}`,
    `  curl ${url}/breaches ${header}`,
  ].join("\n");
};

/** Whether the table, which may be another one by now, has the organization of this key, and its user. */
const isWhole = async (
  { organizationId, key, userId }: Demo,
  { port, signal }: AdminSettings,
  admin: Admin,
): Promise<boolean> => {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/alert-configs`, { headers, signal });
  if (reply.status === 401) return false;
  const { users } = await admin("user", "list", "--org", String(organizationId));
  return (users as { id: number }[]).some(({ id }) => id === userId);
};

const readDemo = async (file: string): Promise<Demo | undefined> => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
};
