/** The sources of a release after this one: the same product, whose rows and messages have other forms. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dirname, "..", "..");

/** What the next release writes into everything, as an attribute that this one does not know. */
export const newAttribute = "addedLater";

/** Deliveries and their messages have version 2. Everything else has a further attribute. */
const changes: readonly { file: string; from: string; to: string }[] = [
  { file: "contract/version.ts", from: "newestVersion = 1", to: "newestVersion = 2" },
  {
    file: "contract/version.ts",
    from: "[versionAttribute]: version,",
    to: `[versionAttribute]: version, ${newAttribute}: "new",`,
  },
  {
    file: "lists/member-writes.ts",
    from: "put: { ...item, ...key,",
    to: 'put: { ...(key.pk.includes("#DELIVERY#") && { v: 2 }), ...item, ...key,',
  },
  // One message, and a batch.
  ...[1, 2].map(() => ({
    file: "queue/queue.ts",
    from: "JSON.stringify(withVersion(message))",
    to: 'JSON.stringify(withVersion({ ...message, ...("deliveryId" in message && { v: 2 }) }))',
  })),
];

/** Writes the sources into a folder. */
export function writeNextRelease(directory: string): void {
  mkdirSync(directory);
  for (const name of [
    "bin",
    "dashboard",
    "functions",
    "lib",
    "shared",
    "cdk.json",
    "package.json",
    "tsconfig.json",
  ]) {
    cpSync(join(project, name), join(directory, name), { recursive: true });
  }
  symlinkSync(join(project, "node_modules"), join(directory, "node_modules"));
  for (const { file, from, to } of changes) {
    const path = join(directory, "shared", file);
    const source = readFileSync(path, "utf8");
    if (!source.includes(from)) throw new Error(`${file} does not have "${from}" any more`);
    writeFileSync(path, source.replace(from, to));
  }
}
