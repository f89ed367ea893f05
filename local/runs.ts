/** Which local services this user runs: each keeps a file that is named after its port, for `admin` to find. */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = (): string => join(tmpdir(), `breach-monitor-runs-${process.getuid?.() ?? ""}`);

/** Others may have made the directory first, to lead commands to a service of theirs. */
const isOwn = (path: string): boolean => {
  const { uid } = statSync(path);
  return process.getuid === undefined || uid === process.getuid();
};

/** Notes the port of a run until it is closed. Where that is impossible, commands need `--port`. */
export const noteRun = (port: number): { close: () => void } => {
  const file = join(directory(), String(port));
  try {
    mkdirSync(directory(), { recursive: true, mode: 0o700 });
    if (isOwn(directory())) writeFileSync(file, "");
  } catch {
    // Such as a directory of somebody else.
  }
  return { close: () => rmSync(file, { force: true }) };
};

/** The ports of runs that were noted. Some may have been killed: what answers there may be anything. */
export const notedPorts = (): string[] => {
  try {
    return isOwn(directory()) ? readdirSync(directory()).filter((name) => /^\d+$/.test(name)) : [];
  } catch {
    return [];
  }
};
