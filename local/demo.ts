import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Ids and the API key of the demo organization. */
export interface Demo {
  readonly organizationId: number;
  readonly domainId: number;
  readonly key: string;
}

const projectDirectory = join(import.meta.dirname, "..");
const domainName = "demo.example";

/**
 * Makes the demo organization with its verified domain and a key through the admin command line, or finds what an earlier
 * run made. Each step is noted in `directory` at once, so that an interrupted start goes on where it was.
 * @throws Error with the admin command's sentence.
 */
export async function createDemo(settings: {
  readonly directory: string;
  readonly port: number;
  readonly signal: AbortSignal;
}): Promise<Demo> {
  const file = join(settings.directory, "demo.json");
  let demo = await readDemo(file);
  const note = async (more: Partial<Demo>): Promise<void> => {
    demo = { ...demo, ...more };
    await writeFile(file, JSON.stringify(demo), { mode: 0o600 });
  };
  const admin = (...args: string[]) =>
    runAdmin([...args, "--json", "--port", String(settings.port)], settings.signal);

  if (demo.organizationId === undefined) {
    await note({ organizationId: (await admin("org", "create", "--name", "Demo")).id as number });
  }
  const organization = ["--org", String(demo.organizationId)];
  if (demo.domainId === undefined) {
    const domain = await admin("domain", "add", ...organization, "--name", domainName, "--verified");
    await note({ domainId: domain.id as number });
  }
  if (demo.key === undefined) {
    await note({ key: (await admin("key", "create", ...organization, "--label", "Demo")).key as string });
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
