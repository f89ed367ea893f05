/** DynamoDB Local, which AWS publishes, with a Java of this machine. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { EngineProgram } from "./engine.ts";
import { spawnWatched } from "./watched-process.ts";

const oldestJava = 17;
const downloadsAtOnce = 8;

/** A file of a Maven repository, by its path there. */
type Artifact = { sha256: string; path: string };

/**
 * What DynamoDB Local needs to run, each line as `sha256sum` prints it. Its own archive has SQLite for all
 * platforms. For a new version keep, of what Maven resolves, the archives that `-Xlog:class+load` names while
 * the tests run.
 */
const artifacts = join(import.meta.dirname, "dynamodb-local.sha256");

/** What a file in the form of `sha256sum` lists. */
export const readArtifacts = (file: string): Artifact[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ sha256: line.slice(0, 64), path: line.slice(66) }));

export const mavenRepository = (): string =>
  process.env.MAVEN_REPOSITORY_URL ?? "https://repo1.maven.org/maven2";

export const findDynamodbLocal = async (): Promise<EngineProgram | undefined> => {
  const java = await findJava();
  if (java === undefined) return undefined;
  const directory = join(
    process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
    "breach-monitor/dynamodb-local",
  );
  const jars = await fetchArtifacts(readArtifacts(artifacts), {
    repository: mavenRepository(),
    directory,
    onProgress: showProgress,
  });
  return {
    file: "dynamodb-local",
    startTimeoutMilliseconds: 60_000,
    spawn: (port, file) => {
      if (file !== undefined) mkdirSync(file, { recursive: true });
      const storage = file === undefined ? ["inMemory=true"] : ["inMemory=false", `directory=${file}`];
      return spawnWatched(java, [
        ...["-cp", jars.join(delimiter), "org.eclipse.jetty.xml.XmlConfiguration"],
        ...[`port=${port}`, ...storage, join(import.meta.dirname, "dynamodb-local.xml")],
      ]);
    },
  };
};

/** A bar that grows on a terminal; elsewhere its first and its last state. */
const showProgress = (done: number, total: number): void => {
  const bar = "█".repeat(done) + "░".repeat(total - done);
  const line = `Fetching DynamoDB Local from Maven Central ${bar} ${done} of ${total} files`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === total ? "\n" : ""}`);
  else if (done === 0 || done === total) console.log(line);
};

/** The first Java that is new enough: of JAVA_HOME, or on the path. */
export const findJava = async (): Promise<string | undefined> => {
  const { JAVA_HOME: home } = process.env;
  for (const java of [...(home ? [join(home, "bin/java")] : []), "java"]) {
    try {
      const { stderr } = await promisify(execFile)(java, ["-version"]);
      const [, version] = /version "(\d+)/.exec(stderr) ?? [];
      if (Number(version) >= oldestJava) return java;
    } catch {
      // There is none, or macOS's placeholder, which only says so.
    }
  }
  return undefined;
};

/**
 * Fetches the files that the directory does not have yet, and gives the paths of all. Rejects when a file is not
 * what its checksum says; nothing of it is kept.
 */
export const fetchArtifacts = async (
  wanted: readonly Artifact[],
  {
    repository,
    directory,
    onProgress,
  }: { repository: string; directory: string; onProgress: (done: number, total: number) => void },
): Promise<string[]> => {
  // Names with the checksum: a newer version of this project may want others.
  const fileOf = ({ path, sha256 }: Artifact) => join(directory, `${sha256.slice(0, 12)}-${basename(path)}`);
  const missing = wanted.filter((artifact) => !existsSync(fileOf(artifact)));
  let done = 0;
  const fetchNext = async (): Promise<void> => {
    for (let artifact = missing.shift(); artifact !== undefined; artifact = missing.shift()) {
      const url = `${repository.replace(/\/$/, "")}/${artifact.path}`;
      const bytes = await download(url);
      if (createHash("sha256").update(bytes).digest("hex") !== artifact.sha256) {
        throw new Error(`${url} is not the file that this project expects: its SHA-256 differs.`);
      }
      const file = fileOf(artifact);
      const temporary = `${file}.${process.pid}`;
      await writeFile(temporary, bytes);
      // At once, also when several processes fetch it.
      await rename(temporary, file);
      done += 1;
      onProgress(done, total);
    }
  };
  const total = missing.length;
  if (total > 0) onProgress(0, total);
  await mkdir(directory, { recursive: true });
  await Promise.all(Array.from({ length: downloadsAtOnce }, fetchNext));
  return wanted.map(fileOf);
};

const download = async (url: string): Promise<Buffer> => {
  try {
    const reply = await fetch(url);
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    return Buffer.from(await reply.arrayBuffer());
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Error(
      `${url} could not be fetched (${reason}). MAVEN_REPOSITORY_URL names another repository.`,
    );
  }
};
