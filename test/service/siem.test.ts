/** The programs of docs/siem read the feed of the local service. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, inject, test } from "vitest";
import { createScanned, type Scanned } from "./scanned.ts";

const run = promisify(execFile);
const program = (path: string): string => join(import.meta.dirname, "../../docs/siem", path);

let organization: Scanned;
let ids: string[];
beforeAll(async () => {
  organization = await createScanned();
  const breaches = await organization.api.list("/breaches");
  ids = breaches.map(({ id }) => `finding-${id}`).sort();
  expect(ids.length).toBeGreaterThan(0);
});

const prepare = () => {
  const directory = mkdtempSync(join(tmpdir(), "feed-"));
  const keyFile = join(directory, "key");
  writeFileSync(keyFile, organization.key);
  const cursorFile = join(directory, "cursor");
  const env = {
    ...process.env,
    BREACH_MONITOR_URL: inject("apiUrl"),
    BREACH_MONITOR_KEY: organization.key,
    BREACH_MONITOR_KEY_FILE: keyFile,
    BREACH_MONITOR_CURSOR_FILE: cursorFile,
  };
  return { env, cursorFile };
};

type Event = { metadata: { uid: string } };
const findingsIn = (events: Event[]): string[] =>
  events
    .map(({ metadata }) => metadata.uid)
    .filter((uid) => uid.startsWith("finding-"))
    .sort();

test("read-feed.sh prints each finding once, and goes on where it was", async () => {
  const { env, cursorFile } = prepare();
  const read = async (): Promise<string[]> => {
    const { stdout } = await run(program("curl/read-feed.sh"), [cursorFile, "ocsf"], { env });
    const pages = stdout.trim().split("\n");
    return findingsIn(pages.flatMap((page) => (JSON.parse(page) as { items: Event[] }).items));
  };
  expect(await read()).toEqual(ids);
  expect(await read()).toEqual([]);
  writeFileSync(cursorFile, "damaged");
  await expect(read()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("after: is no cursor"),
  });
  expect(readFileSync(cursorFile, "utf8")).toBe("damaged");
});

test("Splunk's read_feed.py prints each finding once, and goes on where it was", async () => {
  const { env } = prepare();
  const read = async (): Promise<string[]> => {
    const { stdout } = await run("python3", [program("splunk/breach_monitor/bin/read_feed.py")], { env });
    const lines = stdout.split("\n").filter((line) => line !== "");
    return findingsIn(lines.map((line) => JSON.parse(line) as Event));
  };
  expect(await read()).toEqual(ids);
  expect(await read()).toEqual([]);
});
