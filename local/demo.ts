import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fillDemo } from "./demo-data.ts";

/** Ids and the API key of the demo organization. */
export type Demo = {
  organizationId: number;
  domainId: number;
  keyId: number;
  key: string;
  userId: number;
  teamIds: readonly number[];
  /** Whether it has its addresses, scans and findings. */
  isFilled: true;
};

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
const teams = ["Engineering", "Finance"];

/**
 * Makes the demo organization with its verified domain, a key, a user, and invented addresses and findings
 * through the admin command line and the API, or finds the one that an earlier run made. Each step is noted in
 * `directory` at once, so that an interrupted start goes on where it was. Rejects with the admin command's
 * sentence.
 */
export const createDemo = async (settings: Settings): Promise<Demo> => {
  const file = join(settings.directory, "demo.json");
  const admin = adminOf(settings);
  let demo = await stillThere(await readDemo(file), admin);
  const note = async (more: Partial<Demo>): Promise<void> => {
    demo = { ...demo, ...more };
    await writeFile(file, JSON.stringify(demo), { mode: 0o600 });
  };

  if (demo.organizationId === undefined) {
    await note({ organizationId: (await admin("org", "create", "--name", name)).id as number });
  }
  const organization = ["--org", String(demo.organizationId)];
  if (demo.domainId === undefined) {
    const domain = await admin("domain", "add", ...organization, "--name", domainName, "--verified");
    await note({ domainId: domain.id as number });
  }
  if (demo.key === undefined) {
    const { id, key } = await admin("key", "create", ...organization, "--label", name);
    await note({ keyId: id as number, key: key as string });
  }
  if (demo.userId === undefined) {
    const user = await admin("user", "create", ...organization, "--email", userEmail, "--name", "You");
    await note({ userId: user.id as number });
  }
  while ((demo.teamIds ?? []).length < teams.length) {
    const { teamIds = [] } = demo;
    const team = await admin("team", "create", ...organization, "--name", teams[teamIds.length] ?? "");
    await note({ teamIds: [...teamIds, team.id as number] });
  }
  if (demo.isFilled === undefined) {
    await fillDemo(demo as Demo, settings);
    await note({ isFilled: true });
  }
  return demo as Demo;
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
  (...args) =>
    runAdmin([...args, "--json", "--port", String(port)], signal);

/** The link and the commands to try first, ready to click and to paste. */
export const describeDemo = ({ domainId, key }: Demo, signInLink: string, url: string): string => {
  const header = `-H 'Authorization: Bearer ${key}'`;
  return [
    `Open the dashboard (this link works once, for 15 minutes): ${signInLink}`,
    `The organization "Demo" watches ${domainName}. Its API key: ${key}`,
    "Try these, one after the other:",
    `  curl -X POST ${url}/emails ${header} -H 'Content-Type: application/json' -d '{"email": "ada@${domainName}", "domainId": ${domainId}}'`,
    `  curl -X POST ${url}/scans ${header}`,
    `  curl ${url}/breaches ${header}`,
  ].join("\n");
};

/** The noted steps that still hold: the table may be another one by now, the key revoked, the user removed. */
const stillThere = async (noted: Partial<Demo>, admin: Admin): Promise<Partial<Demo>> => {
  if (noted.organizationId === undefined) return {};
  const { organizations } = (await admin("org", "list")) as { organizations: { id: number; name: string }[] };
  if (!organizations.some((each) => each.id === noted.organizationId && each.name === name)) return {};
  const organization = ["--org", String(noted.organizationId)];
  const [{ users }, { keys }] = (await Promise.all([
    admin("user", "list", ...organization),
    admin("key", "list", ...organization),
  ])) as [{ users: { id: number }[] }, { keys: { id: number; label: string; revokedAt: string | null }[] }];
  const hasUser = users.some(({ id }) => id === noted.userId);
  const hasKey = keys.some(
    ({ id, label, revokedAt }) => id === noted.keyId && label === name && revokedAt === null,
  );
  const { userId, keyId, key, ...rest } = noted;
  return {
    ...rest,
    ...(hasUser && userId !== undefined && { userId }),
    ...(hasKey && keyId !== undefined && key !== undefined && { keyId, key }),
  };
};

const readDemo = async (file: string): Promise<Partial<Demo>> => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return {};
  }
};

const runAdmin = (args: string[], signal: AbortSignal): Promise<Record<string, unknown>> => {
  return new Promise((resolve, reject) => {
    const command = [join(projectDirectory, "bin", "admin.ts"), ...args];
    execFile(process.execPath, command, { signal, killSignal: "SIGKILL" }, (error, output, errors) => {
      if (error !== null) {
        const [sentence] = errors.trim().split("\n");
        reject(new Error(sentence || error.message));
        return;
      }
      resolve(JSON.parse(output));
    });
  });
};
