import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { assemblyPath, openDataDirectory } from "../../local/data-directory.ts";

const directory = mkdtempSync(join(tmpdir(), "data-"));

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("one run at a time has the data, and its end removes the assembly", () => {
  const path = join(directory, "data");
  const first = openDataDirectory(path);
  mkdirSync(assemblyPath(path));
  expect(() => openDataDirectory(path)).toThrow(`The data in ${path} is in use by another run`);
  first.close();
  expect(existsSync(assemblyPath(path))).toBe(false);
  openDataDirectory(path).close();
});

test("a person's own folder named assembly is not removed", () => {
  const path = join(directory, "data");
  mkdirSync(join(path, "assembly"), { recursive: true });
  openDataDirectory(path).close();
  expect(assemblyPath(path)).not.toBe(join(path, "assembly"));
  expect(existsSync(join(path, "assembly"))).toBe(true);
});

test("a lock file that can't be locked is told apart from another run's lock", () => {
  const path = join(directory, "data");
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "lock"),
    "a person's own file, long enough for SQLite to look at its header".repeat(20),
  );
  const file = join(path, "lock");
  expect(() => openDataDirectory(path)).toThrow(`${file} can't be locked (file is not a database): choose`);
  rmSync(file);
  mkdirSync(file);
  expect(() => openDataDirectory(path)).toThrow(`${file} can't be locked (unable to open database file)`);
});

test("a run that was killed leaves no lock behind", async () => {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "data");
  const script = join(directory, "run.mts");
  const module = join(import.meta.dirname, "../../local/data-directory.ts");
  writeFileSync(
    script,
    `import { openDataDirectory } from "${module}";
     openDataDirectory("${path}");
     console.log("open");
     setInterval(() => {}, 1000);`,
  );
  const run = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(run.stdout, "data");
  expect(() => openDataDirectory(path)).toThrow("in use by another run");
  run.kill("SIGKILL");
  await once(run, "exit");
  openDataDirectory(path).close();
});
