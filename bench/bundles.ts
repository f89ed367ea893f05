import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeBundles } from "../lib/bundle.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { quantile, round, verdict } from "./measure.ts";

const rounds = 11;
const maxKilobytes = 150;
const maxMilliseconds = 60;

/** A program that loads a module as Lambda does and prints `[wall, cpu]` in milliseconds. */
const script = (file: string): string =>
  [
    "const cpu = process.cpuUsage();",
    "const begin = performance.now();",
    `require(${JSON.stringify(file)});`,
    "const wall = performance.now() - begin;",
    "const { user, system } = process.cpuUsage(cpu);",
    "process.stdout.write(JSON.stringify([wall, (user + system) / 1000]), () => process.exit());",
  ].join("\n");

/** Wall and CPU milliseconds of loading a module in a process that has loaded nothing else. */
const importOnce = async (file: string): Promise<[wall: number, cpu: number]> => {
  const child = spawn(process.execPath, ["--input-type=commonjs", "-e", script(file)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, AWS_REGION: "us-east-1", TABLE_NAME: "bench" },
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`${file} cannot be imported: its error is printed above`);
  return JSON.parse(printed);
};

/** The npm package that a source file belongs to; all packages of the AWS SDK count as one. */
const ownerOf = (source: string): string => {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
  if (name?.startsWith("@aws-sdk/") || name?.startsWith("@smithy/")) return "AWS SDK";
  return name ?? "ours";
};

/** Bytes by owner, most first. `sources`: bytes by source file. */
const ownersOf = (sources: Readonly<Record<string, number>>): Map<string, number> => {
  const owners = new Map<string, number>();
  for (const [source, bytes] of Object.entries(sources)) {
    owners.set(ownerOf(source), (owners.get(ownerOf(source)) ?? 0) + bytes);
  }
  return new Map([...owners].sort(([, a], [, b]) => b - a));
};

const largest = (owners: ReadonlyMap<string, number>): string =>
  [...owners]
    .slice(0, 3)
    .map(([owner, bytes]) => `${owner} ${Math.round(bytes / 1024)}`)
    .join(", ");

/** Where the AWS SDK alone is larger than the target, the target applies to the rest of the bundle. */
const sizeVerdict = (kilobytes: number, owners: ReadonlyMap<string, number>): string => {
  const sdk = (owners.get("AWS SDK") ?? 0) / 1024;
  return sdk < maxKilobytes
    ? verdict("KB", kilobytes, maxKilobytes)
    : verdict("KB without the SDK", round(kilobytes - sdk), maxKilobytes);
};

const run = async ({ progress }: Context): Promise<Table[]> => {
  const directory = mkdtempSync(join(tmpdir(), "bundles-"));
  try {
    const bundles = Object.entries(await writeBundles(directory)).sort(([, a], [, b]) => b.bytes - a.bytes);
    const timed = bundles.map(() => ({ walls: [] as number[], cpus: [] as number[] }));
    // Each round takes all functions in turn, so that a slow minute of this machine does not fall on one
    // function alone.
    for (let number = 0; number < rounds; number++) {
      for (const [index, [folder]] of bundles.entries()) {
        progress("bundles", number * bundles.length + index, rounds * bundles.length);
        const [wall, cpu] = await importOnce(join(directory, folder, "index.js"));
        timed[index]?.walls.push(wall);
        timed[index]?.cpus.push(cpu);
      }
    }
    const rows = bundles.map(([folder, { bytes, sources }], index): Cell[] => {
      const { walls = [], cpus = [] } = timed[index] ?? {};
      const kilobytes = round(bytes / 1024);
      const owners = ownersOf(sources);
      const median = round(quantile(walls, 0.5));
      return [
        folder,
        kilobytes,
        largest(owners),
        median,
        round(quantile(cpus, 0.5)),
        `${sizeVerdict(kilobytes, owners)}, ${verdict("import", median, maxMilliseconds)}`,
      ];
    });
    return [
      {
        title: "Bundles",
        columns: ["Function", "KB minified", "Largest parts, KB", "Import ms", "Import CPU ms", "Targets"],
        rows,
        notes: [
          `Import: loading the whole module in a fresh process on this machine, median of ${rounds} rounds through all functions. "ours": the project's own code.`,
        ],
      },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
};

export const bundles: Arm = {
  name: "bundles",
  about: "Sizes of the functions, and how long they take to load",
  run,
};
