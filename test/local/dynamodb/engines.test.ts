/** Which DynamoDB engine a machine runs, with the others taken away, and how DynamoDB Local gets there. */
import { createHash } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fetchArtifacts } from "../../../local/dynamodb/dynamodb-local.ts";
import { findEngine, startEngine } from "../../../local/dynamodb/engine.ts";
import { listenOnLoopback } from "../../../local/loopback.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "engines-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

/** A machine whose only programs are these, each a shell script. */
const onlyPrograms = async (programs: Record<string, string>): Promise<void> => {
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  vi.stubEnv("PATH", directory);
  vi.stubEnv("JAVA_HOME", "");
  vi.stubEnv("DYNAMODB_ENGINE", undefined);
};

/** Takes the npm package of the engine away: no platform has one of this name. */
const withoutDynoxide = async <R>(act: () => Promise<R>): Promise<R> => {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "another" });
  try {
    return await act();
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
  }
};

const oldJava = "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2";

describe("the engine", () => {
  test("without any, three lines name the three ways to get one", async () => {
    await onlyPrograms({ java: oldJava, docker: "exit 1" });
    const error = await withoutDynoxide(findEngine).catch((reason: Error) => reason);
    expect((error as Error).message.split("\n")).toEqual([
      expect.stringContaining("npm ci"),
      expect.stringContaining("Java 17 or newer"),
      expect.stringContaining("Docker"),
    ]);
  });

  // Only the decision is tested, with a program that stands for Docker: no container is started.
  test("is Docker's where Docker answers and Java is too old", async () => {
    await onlyPrograms({ java: oldJava, docker: "echo 28.0.0" });
    const engine = await withoutDynoxide(findEngine);
    expect(engine.file).toBe("dynamodb-local");
    expect(engine.startTimeoutMilliseconds).toBeGreaterThan(60_000);
  });
});

describe("the files of DynamoDB Local", () => {
  const content = "an archive";
  const artifact = { sha256: createHash("sha256").update(content).digest("hex"), path: "a/b/archive-1.jar" };
  const requested: (string | undefined)[] = [];
  const fetchFrom = async (wanted: (typeof artifact)[]) => {
    const server = await listenOnLoopback(({ url }) => {
      requested.push(url);
      return { status: url?.endsWith("/gone.jar") ? 404 : 200, body: content };
    });
    try {
      return await fetchArtifacts(wanted, { repository: server.url, directory, onProgress: () => {} });
    } finally {
      await server.close();
    }
  };

  test("are fetched once and kept", async () => {
    // The server sends JSON, hence the quotes.
    const quoted = { ...artifact, sha256: createHash("sha256").update(`"${content}"`).digest("hex") };
    requested.length = 0;
    const first = await fetchFrom([quoted]);
    expect(await fetchFrom([quoted])).toEqual(first);
    expect(requested).toEqual(["/a/b/archive-1.jar"]);
  });

  test("are refused if missing or not as the checksum says", async () => {
    await expect(fetchFrom([artifact])).rejects.toThrow("SHA-256 differs");
    await expect(fetchFrom([{ ...artifact, path: "gone.jar" }])).rejects.toThrow("MAVEN_REPOSITORY_URL");
    expect(await readdir(directory)).toEqual([]);
  });
});

// Part of `npm run test:dynamodb-local`, since it needs Java, and a network the first time.
test.runIf(process.env.DYNAMODB_ENGINE === "java")(
  "a machine without the npm package runs DynamoDB Local, on loopback only",
  async () => {
    vi.stubEnv("DYNAMODB_ENGINE", undefined);
    const engine = await withoutDynoxide(() => startEngine(directory));
    expect((await fetch(engine.endpoint)).headers.get("x-amzn-requestid")).not.toBeNull();
    await engine.close();
    expect(await readdir(directory)).toEqual(["dynamodb-local"]);
  },
);
