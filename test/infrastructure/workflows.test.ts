/** What runs in the name of this repository, and with which permissions. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const project = join(import.meta.dirname, "..", "..");
const paths = globSync(".github/workflows/*.{yml,yaml}", { cwd: project });
const read = (path: string): string => readFileSync(join(project, path), "utf8");

test.each(paths)("%s takes others' actions by their commit, whose release a comment names", (path) => {
  const actions = [...read(path).matchAll(/^\s*-?\s*uses:\s*(.+)$/gm)].map(([, action = ""]) =>
    action.trim(),
  );
  expect(actions.length).toBeGreaterThan(0);
  const others = actions.filter((action) => !action.startsWith("./"));
  for (const action of others) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(paths)("%s has no permissions but those that a job names", (path) => {
  expect(read(path)).toMatch(/^permissions: \{\}$/m);
  // A token that writes code, packages or releases would outlast the run by what it wrote.
  expect(read(path)).not.toMatch(/^\s+(?:contents|packages|actions|pull-requests|deployments): write$/m);
});

test("a release is deployed only with the provenance that another job has signed", () => {
  const jobs = read(".github/workflows/release.yml").split(/^ {2}(?=\w+:$)/m);
  const jobOf = (name: string) => jobs.find((job) => job.startsWith(`${name}:`)) ?? "";
  expect(jobOf("build")).not.toContain("id-token");
  expect(jobOf("attest")).toMatch(/actions\/attest-build-provenance@/);
  expect(jobOf("attest")).not.toMatch(/run:|npm/);
  expect(jobOf("deploy")).toMatch(/needs: attest.*gh attestation verify \*\.tgz.*cdk@[\d.]+ deploy/s);
});
