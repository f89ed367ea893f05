/** Which module may import which, read from the sources: design decisions that nothing else would hold. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const project = join(import.meta.dirname, "..", "..");

type Import = { from: string; to: string; isPackage: boolean; typeOnly: boolean };

const statement =
  /^(?:import|export)\s+(type\s)?[^;"]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const files = globSync("{bin,lib,functions,shared,local,bench}/**/*.ts", { cwd: project });
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

/** Pure data about what functions take, give and use: infrastructure and documentation load them without any effect. */
const contracts =
  /^functions\/(routes|workers|[^/]+\/(endpoint|worker))\.ts$|^shared\/(api\/(endpoint|errors|page|retention|text)|queue\/(worker|messages)|table\/keys|[^/]+\/schema|activity\/actions)\.ts$/;

/** The first layer that a file matches says what it may import. */
const layers: { name: string; files: RegExp; may: RegExp[] }[] = [
  { name: "contracts load contracts", files: contracts, may: [contracts] },
  { name: "the app loads the stack", files: /^bin\/breach-monitor\.ts$/, may: [/^lib\//] },
  { name: "the stack loads contracts", files: /^lib\//, may: [/^lib\//, contracts] },
  {
    name: "commands call the domain",
    files: /^bin\//,
    may: [/^bin\/(?!breach-monitor)/, /^shared\//, contracts],
  },
  { name: "handlers call what is shared", files: /^functions\//, may: [/^shared\//, contracts] },
  { name: "the API stands on the domains", files: /^shared\/api\//, may: [/^shared\//] },
  { name: "the table stands alone", files: /^shared\/table\//, may: [/^shared\/table\//] },
  {
    name: "the queues stand on the table",
    files: /^shared\/queue\//,
    may: [/^shared\/(queue|table)\//, contracts],
  },
  {
    name: "domains stand on table and queues",
    files: /^shared\//,
    may: [/^shared\/(?!api\/)/, /^shared\/api\/(errors|page|retention|text|valid)\.ts$/],
  },
  {
    name: "the local runtime knows nothing of the product",
    files: /^local\//,
    may: [/^local\//, /^node_modules\//],
  },
  { name: "benchmarks may use anything", files: /^bench\//, may: [/./] },
];

describe("imports run in one direction", () => {
  const layerOf = (file: string) => layers.find((layer) => layer.files.test(file));

  test("every source file belongs to a layer", () => {
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([]);
  });

  test.each(layers)("$name", (layer) => {
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) =>
        layerOf(from) === layer &&
        !isPackage &&
        // Types are gone when the program runs. The local runtime is to run any template, so it knows not even those.
        !(typeOnly && !from.startsWith("local/")) &&
        !layer.may.some((pattern) => pattern.test(to)),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test("contracts load no package but zod", () => {
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) => contracts.test(from) && isPackage && !typeOnly && to !== "zod",
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test("what runs in Lambda loads only production dependencies, and no infrastructure", () => {
    const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    const wrong = imports.filter(
      ({ from, to, isPackage, typeOnly }) =>
        /^(functions|shared)\//.test(from) &&
        isPackage &&
        !typeOnly &&
        !to.startsWith("node:") &&
        !(to in dependencies),
    );
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});

function packageName(specifier: string): string {
  const [scopeOrName = "", name] = specifier.split("/");
  return specifier.startsWith("@") ? `${scopeOrName}/${name}` : scopeOrName;
}
