import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  changes,
  type Happening,
  losses,
  type State,
  stateOf,
} from "../../../shared/monitoring/domains/proof.ts";

const document = join(import.meta.dirname, "..", "..", "..", "docs", "flows", "domain-proof.md");
const states = Object.keys(changes) as State[];
const happenings: Happening[] = ["there", "gone", "lost", "taken", "outproved", "verify", "unverify"];

const toldOf = (from: State, happening: string): string => {
  if (from === "unverified" && happening === "there") return ", log entry";
  return happening in losses ? ", log entry, alert" : "";
};

describe("the states of a domain's proof", () => {
  test("are in the document as in the code", () => {
    const rows = readFileSync(document, "utf8")
      .split("\n")
      .filter((line) => /^\| (?:\||`\w+`:)/.test(line))
      .map((line) => line.split("|").slice(1, -1));
    const shown = rows.map(([first = "", ...cells]) => [
      /`(\w+)`/.exec(first)?.[1] ?? "",
      ...cells.map((cell) => cell.trim().replaceAll("`", "")),
    ]);
    expect(shown).toEqual([
      ["", ...states],
      ...happenings.map((each) => [
        each,
        ...states.map((from) => {
          const to = changes[from][each];
          if (to === undefined) return "·";
          return to === "missing" ? to : `${to}${toldOf(from, each)}`;
        }),
      ]),
    ]);
  });

  test.each([
    ["unverified", { verified: false }],
    ["proved", { verified: true, verifiedBy: "record" }],
    ["missing", { verified: true, verifiedBy: "record", missingSince: "2026-01-01T00:00:00.000Z" }],
    ["operator", { verified: true, verifiedBy: "operator" }],
  ] as const)("%s is what the row says", (state, row) => {
    expect(stateOf(row)).toBe(state);
  });
});
