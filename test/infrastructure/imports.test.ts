/** Which module may import which, read from the sources. No other check holds these design decisions. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const project = join(import.meta.dirname, "..", "..");

type Import = { from: string; to: string; isPackage: boolean; typeOnly: boolean };

const statement =
  /^(?:import|export)\s+(type\s)?[^;"]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const packageName = (specifier: string): string => {
  const [scopeOrName = "", name] = specifier.split("/");
  return specifier.startsWith("@") ? `${scopeOrName}/${name}` : scopeOrName;
};

const files = globSync("{bin,dashboard,lib,functions,shared,local,bench}/**/*.{ts,tsx}", { cwd: project });
const imports: Import[] = files.flatMap((from) =>
  [...readFileSync(join(project, from), "utf8").matchAll(statement)].map(
    ([, type, named = "", bare = "", dynamic = ""]) => {
      const target = named || bare || dynamic;
      const isPackage = !target.startsWith(".");
      const to = isPackage ? packageName(target) : normalize(join(dirname(from), target));
      return { from, to, isPackage, typeOnly: type !== undefined };
    },
  ),
);

const arrows = (some: readonly Import[]): string[] => some.map(({ from, to }) => `${from} → ${to}`);

/** The rooms of shared/, the ground first. A room imports only rooms before it, types included. */
const rooms = [
  "contract",
  "aws",
  "lists",
  "hibp",
  "counts",
  "outbox",
  "access",
  "monitoring",
  "findings",
  "people",
  "scanning",
  "alerting",
  "operations",
];

describe("rooms", () => {
  const roomOf = (file: string) => /^shared\/([^/]+)\//.exec(file)?.[1];
  const levelOf = (file: string) => rooms.indexOf(roomOf(file) ?? "");

  test("every room has one place in the order, and no file lies outside a room", () => {
    const found = files.filter((file) => file.startsWith("shared/")).map(roomOf);
    expect([...new Set(found)].sort()).toEqual([...rooms].sort());
  });

  test.each(rooms)("%s imports only itself and rooms before it", (room) => {
    const wrong = imports.filter(
      ({ from, to, isPackage }) => roomOf(from) === room && !isPackage && levelOf(to) > levelOf(from),
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test("no file imports itself by way of others, types included", () => {
    const importsOf = Map.groupBy(imports, ({ from }) => from);
    const reaches = (from: string, goal: string, seen: Set<string>): boolean =>
      (importsOf.get(from) ?? []).some(({ to }) => {
        if (to === goal) return true;
        if (seen.has(to)) return false;
        seen.add(to);
        return reaches(to, goal, seen);
      });
    const shared = files.filter((file) => file.startsWith("shared/"));
    expect(shared.filter((file) => reaches(file, file, new Set()))).toEqual([]);
  });
});

/** The lists of doors in biome.json: each pattern that allows files again. */
describe("doors of rooms in biome.json", () => {
  const { linter, overrides } = JSON.parse(readFileSync(join(project, "biome.json"), "utf8"));
  const doors = [linter, ...overrides.map((each: { linter?: unknown }) => each.linter)]
    .flatMap((each) => each?.rules?.style?.noRestrictedImports?.options?.patterns ?? [])
    .flatMap(({ group }: { group: string[] }) => group)
    .filter((pattern) => pattern.startsWith("!") && pattern !== "!**/*-schema.ts")
    .flatMap((pattern) => {
      const [, start, names, end] = /^!(.*?)(?:\{(.*)\}(.*))?$/.exec(pattern) ?? [];
      return (names ?? "").split(",").map((name) => `${start}${name}${end ?? ""}`);
    });

  test.each([...new Set(doors)])("%s is imported from elsewhere", (door) => {
    const [, folder = ""] = /^\*\*\/([^/]+)\//.exec(door) ?? [];
    const isIn = (file: string) => dirname(file).split("/").includes(folder);
    const used = imports.filter(({ from, to }) => matchesGlob(to, `shared/${door}`) && !isIn(from));
    expect(used).not.toEqual([]);
  });
});

/** The folders of alerting, the ground first. */
const foldersOfAlerting = ["kinds", "channels", "deliveries", "owners", "messages", "attempts", "outbox"];

describe("folders of alerting", () => {
  const levelOf = (file: string) =>
    foldersOfAlerting.indexOf(/^shared\/alerting\/([^/]+)\//.exec(file)?.[1] ?? "");

  test.each(foldersOfAlerting)("%s imports only itself and folders before it", (folder) => {
    const wrong = imports.filter(
      ({ from, to, isPackage }) =>
        from.startsWith(`shared/alerting/${folder}/`) && !isPackage && levelOf(to) > levelOf(from),
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test("none but kinds compares the name of a kind of channel", () => {
    const asking = files.filter(
      (file) =>
        /^(functions|shared\/(alerting|operations))\//.test(file) &&
        !file.startsWith("shared/alerting/kinds/") &&
        /[!=]== "(email|slack|webhook)"|case "(email|slack|webhook)":/.test(
          readFileSync(join(project, file), "utf8"),
        ),
    );
    expect(asking).toEqual([]);
  });

  test("every folder has one place in the order", () => {
    const found = files.filter((file) => file.split("/").length > 3 && file.startsWith("shared/alerting/"));
    expect(found.filter((file) => levelOf(file) < 0)).toEqual([]);
  });
});

/**
 * Modules that describe functions and have no effects, so that infrastructure and documentation load them.
 */
const contracts = new RegExp(
  "^functions/((?:dashboard-)?routes|parts|workers|[^/]+/(endpoint|worker))\\.ts$" +
    "|^shared/(contract/[^/]+|aws/table/keys|(?:[^/]+/)+[^/]+-schema|access/activity/actions)\\.ts$",
);

/** The first layer that a file matches says what the file may import, types included. */
const layers: { name: string; files: RegExp; may: RegExp[]; mayBeside?: true }[] = [
  { name: "contracts import contracts", files: contracts, may: [contracts] },
  { name: "the app imports the stack", files: /^bin\/breach-monitor\.ts$/, may: [/^lib\//] },
  { name: "the stack imports contracts", files: /^lib\//, may: [/^lib\//, contracts] },
  {
    name: "commands import shared/, contracts, options of deployments and where local runs are",
    files: /^bin\//,
    may: [/^bin\/(?!breach-monitor)/, /^shared\//, /^lib\/options\.ts$/, /^local\/runs\.ts$/, contracts],
  },
  {
    name: "handlers import shared/, contracts and files of their own folder",
    files: /^functions\//,
    may: [/^shared\//, contracts],
    mayBeside: true,
  },
  { name: "shared/ imports nothing outside shared/", files: /^shared\//, may: [/^shared\//] },
  { name: "the page imports contracts", files: /^dashboard\//, may: [/^dashboard\//, contracts] },
  { name: "local/ imports nothing of the product", files: /^local\//, may: [/^local\//, /^node_modules\//] },
  { name: "benchmarks import no tests", files: /^bench\//, may: [/^(?!test\/)/] },
];

describe("layers", () => {
  const layerOf = (file: string) => layers.find((layer) => layer.files.test(file));

  test("every source file belongs to a layer", () => {
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([]);
  });

  test.each(layers)("$name", (layer) => {
    const wrong = imports.filter(
      ({ from, to, isPackage }) =>
        layerOf(from) === layer &&
        !isPackage &&
        !(layer.mayBeside && dirname(from) === dirname(to)) &&
        !layer.may.some((pattern) => pattern.test(to)),
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test("one file reaches into the package fauxqs", () => {
    const reaching = imports.filter(({ to }) => to.includes("fauxqs/dist"));
    expect([...new Set(reaching.map(({ from }) => from))]).toEqual(["local/sqs/fauxqs.ts"]);
  });

  test("contracts import no package but zod", () => {
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) => contracts.test(from) && isPackage && !typeOnly && to !== "zod",
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test("the page imports Preact, and of contracts only types", () => {
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) =>
        from.startsWith("dashboard/") &&
        !typeOnly &&
        (isPackage ? !["preact", "@preact/signals"].includes(to) : !to.startsWith("dashboard/")),
    );
    expect(arrows(wrong)).toEqual([]);
  });

  test("what runs in Lambda imports production dependencies only", () => {
    const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) =>
        /^(functions|shared)\//.test(from) &&
        isPackage &&
        !typeOnly &&
        !to.startsWith("node:") &&
        !(to in dependencies),
    );
    expect(arrows(wrong)).toEqual([]);
  });
});
