import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Ids and the API key of the demo organization. */
export interface Demo {
  readonly organizationId: number;
  readonly domainId: number;
  readonly keyId: number;
  readonly key: string;
}

type Admin = (...args: string[]) => Promise<Record<string, unknown>>;

const projectDirectory = join(import.meta.dirname, "..");
const name = "Demo";
const domainName = "demo.example";

/**
 * Makes the demo organization with its verified domain and a key through the admin command line, or finds what an earlier
 * run made and is still there. Each step is noted in `directory` at once, so that an interrupted start goes on where it was.
 * @throws Error with the admin command's sentence.
 */
export async function createDemo(settings: {
  readonly directory: string;
  readonly port: number;
  readonly signal: AbortSignal;
}): Promise<Demo> {
  const file = join(settings.directory, "demo.json");
  const admin: Admin = (...args) =>
    runAdmin([...args, "--json", "--port", String(settings.port)], settings.signal);
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
  return demo as Demo;
}

/** What to try first, ready to paste. */
export function describeDemo({ domainId, key }: Demo, url: string): string {
  const header = `-H 'Authorization: Bearer ${key}'`;
  return [
    `The organization "Demo" watches ${domainName}. Its API key: ${key}`,
    "Try these, one after the other:",
    `  curl -X POST ${url}/emails ${header} -H 'Content-Type: application/json' -d '{"email": "ada@${domainName}", "domainId": ${domainId}}'`,
    `  curl -X POST ${url}/scans ${header}`,
    `  curl ${url}/breaches ${header}`,
  ].join("\n");
}

/** What of the noted is there: the table may be another than the one it was noted for, and a key may be revoked. */
async function stillThere(noted: Partial<Demo>, admin: Admin): Promise<Partial<Demo>> {
  if (noted.organizationId === undefined) {
    return {};
  }
  const { organizations } = (await admin("org", "list")) as { organizations: { id: number; name: string }[] };
  if (!organizations.some((each) => each.id === noted.organizationId && each.name === name)) {
    return {};
  }
  const { keys } = (await admin("key", "list", "--org", String(noted.organizationId))) as {
    keys: { id: number; label: string; revokedAt: string | null }[];
  };
  if (keys.some(({ id, label, revokedAt }) => id === noted.keyId && label === name && revokedAt === null)) {
    return noted;
  }
  const { keyId: _id, key: _key, ...rest } = noted;
  return rest;
}

async function readDemo(file: string): Promise<Partial<Demo>> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return {};
  }
}

function runAdmin(args: string[], signal: AbortSignal): Promise<Record<string, unknown>> {
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
}
