/** Programs of tests that need more than Node. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test.each(["clients", "siem"])("test:%s says in one sentence that there is no Python", (folder) => {
  const program = join(import.meta.dirname, "..", folder, "run.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    env: { PATH: "/nonexistent" },
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: "This needs Python 3 with venv and pip, which is not there.\n",
  });
});
