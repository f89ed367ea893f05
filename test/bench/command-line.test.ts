import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Table } from "../../bench/arm.ts";
import { arms, readCommandLine } from "../../bench/command-line.ts";
import { measuredColumns } from "../../bench/measure.ts";

describe("the command line of npm run bench", () => {
  test("without arguments every arm runs at every size", () => {
    expect(readCommandLine([])).toEqual({
      arms: Object.keys(arms),
      sizes: [1_000, 100_000, 1_000_000],
      json: false,
      write: false,
    });
  });

  test("repeated arms and sizes run once, sizes in ascending order", () => {
    expect(readCommandLine(["scans", "lists", "scans", "--size", "1000000", "--size", "1000"])).toMatchObject(
      {
        arms: ["scans", "lists"],
        sizes: [1_000, 1_000_000],
      },
    );
  });

  test("--help prints every arm, measures nothing and exits with 0", async () => {
    const entry = join(import.meta.dirname, "../../bench/run.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [entry, "cost", "--help"]);
    expect(stdout).toMatch(/^Usage: npm run bench -- \[arm \.\.\.\] \[--size 1000\|100000\|1000000\]/);
    for (const [name, about] of Object.entries(arms))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${about}$`, "m"));
  });

  test("--json prints one object with the tables of every arm and nothing else", async () => {
    const entry = join(import.meta.dirname, "../../bench/run.ts");
    const args = [entry, "import", "--size", "1000", "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 110_000 });
    const printed = JSON.parse(stdout) as Record<string, Table[]>;
    expect(Object.keys(printed)).toEqual(["import"]);
    const [operations, memory] = printed.import ?? [];
    expect(operations?.columns).toEqual(["Operation", ...measuredColumns, "Targets"]);
    expect(operations?.rows.map(([name]) => name)).toEqual([
      "POST /emails/import/preview",
      "POST /emails/import/commit",
    ]);
    for (const row of operations?.rows ?? []) expect(row).toHaveLength(operations?.columns.length ?? 0);
    expect(memory?.rows.length).toBeGreaterThan(0);
  });

  test.each([
    [["nothing"], /no arm "nothing"\. Arms: lists, .* Usage: npm run bench/],
    [["--size", "7"], /--size takes 1000, 100000, 1000000, not "7"\. Usage:/],
    [["--fast"], /'--fast'\. Usage:/],
  ])("%j is refused with a sentence that says how to use the command", (args, sentence) => {
    expect(() => readCommandLine(args)).toThrow(sentence);
  });
});
