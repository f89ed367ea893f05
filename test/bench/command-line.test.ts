import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { arms, readCommandLine } from "../../bench/command-line.ts";

describe("the command line", () => {
  test("without arguments every arm runs at every size", () => {
    expect(readCommandLine([])).toEqual({
      arms: Object.keys(arms),
      sizes: [1_000, 100_000, 1_000_000],
      write: false,
    });
  });

  test("repeated arms and sizes run once, sizes in ascending order", () => {
    const args = ["scans", "lists", "scans", "--size", "1000000", "--size", "1000"];
    expect(readCommandLine(args)).toMatchObject({ arms: ["lists", "scans"], sizes: [1_000, 1_000_000] });
  });

  test("--help prints every arm, measures nothing and exits with 0", async () => {
    const entry = join(import.meta.dirname, "../../bench/run.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [entry, "cost", "--help"]);
    expect(stdout).toMatch(/^Usage: npm run bench -- \[arm \.\.\.\] \[--size 1000\|100000\|1000000\]/);
    for (const [name, about] of Object.entries(arms))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${about}$`, "m"));
  });

  test.each([
    [["nothing"], 'There is no arm "nothing".'],
    [["--size", "7"], '--size takes 1000, 100000, 1000000, not "7".'],
    [["--fast"], "Unknown option '--fast'"],
  ])("%j is refused in a sentence", (args, sentence) => {
    expect(() => readCommandLine(args)).toThrow(sentence);
  });
});
