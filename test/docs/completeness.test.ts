/**
 * The reference documents list all there is: every trigger, every key, every decision.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { help } from "../../bin/admin/help.ts";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../../functions/workers.ts";
import { readOptions } from "../../lib/options.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import type { Use } from "../../shared/contract/endpoint.ts";
import { project } from "./markdown.ts";

const read = (path: string): string => readFileSync(join(project, path), "utf8");

describe("docs/entrypoints.md", () => {
  const spansOf = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
  /** The code spans of each row, by column; the first two columns are a trigger and a function's name. */
  const rows = read("docs/entrypoints.md")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1).map(spansOf));

  const isRead = (use: Use): boolean => /^table:(read|breach-index)$/.test(use);
  test.each(
    [...routes, ...dashboardRoutes]
      .filter(({ endpoint }) => !endpoint.uses.every(isRead))
      .map(({ name, method, path }) => ({ name, trigger: `${method} ${path}` })),
  )("has $trigger, which changes something, with its function", ({ name, trigger }) =>
    expect(rows.filter(([first]) => first?.[0] === trigger).map((row) => row[1]?.[0])).toContain(name),
  );

  test.each(queueWorkers)("has $name with its queue", ({ name, worker }) =>
    expect(rows.find(([, second]) => second?.[0] === name)?.[0]?.[0]).toBe(worker.queue),
  );

  test.each([...scheduledWorkers, ...onDemandWorkers])("has $name", ({ name }) =>
    expect(rows.map(([, second]) => second?.[0])).toContain(name),
  );

  test("has every admin command", () => {
    const commands = [...(help("") ?? "").matchAll(/^ {2}([a-z]+(?: [a-z][a-z-]*)?)(?= |$)/gm)].map(
      ([, name = ""]) => name,
    );
    const named = new Set(rows.flat(2));
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe("docs/operate.md", () => {
  test("has every alarm", () => {
    const sources = ["worker", "api"].map((part) => read(`lib/${part}-alarms.ts`)).join("");
    const names = [...sources.matchAll(/^ +name: ["`]([^"`]+)["`],$/gm)].map(([, name = ""]) =>
      name.replace(/^\$\{name\}/, "sweep"),
    );
    expect(names).toHaveLength(7);
    for (const name of names) expect(read("docs/operate.md")).toContain(`| \`${name}\``);
  });
});

test("the workflow and docs/deploy.md deploy a release with the CDK that makes it", () => {
  const { devDependencies } = JSON.parse(read("package.json"));
  for (const file of [".github/workflows/release.yml", "docs/deploy.md"])
    expect(read(file)).toContain(`aws-cdk@${devDependencies["aws-cdk"]} deploy --app`);
});

test("docs/deploy.md has every option", () => {
  const names = Object.keys(readOptions(() => undefined));
  expect(names.filter((name) => !read("docs/deploy.md").includes(`\`${name}\``))).toEqual([]);
});

describe("docs/architecture.md", () => {
  test("names every folder of shared/", () => {
    const text = read("docs/architecture.md");
    const missing = readdirSync(join(project, "shared")).filter(
      (name) => !text.includes(`| \`shared/${name}/\` |`),
    );
    expect(missing).toEqual([]);
  });
});

describe("docs/data-model.md", () => {
  const named = [...read("docs/data-model.md").matchAll(/`keys\.(\w+)`/g)].map(([, name = ""]) => name);
  const make = keys as unknown as Record<string, (...args: unknown[]) => Key>;

  test("names keys that exist", () => {
    expect(named.filter((name) => !(name in keys))).toEqual([]);
  });

  test("has every key but those inside lists, see docs/lists.md", () => {
    const isOfList = (name: string): boolean =>
      make[name]?.(1, "EMAIL", 1, 1).pk.startsWith("ORG#1#EMAIL") ?? false;
    const missing = Object.keys(keys).filter((name) => !named.includes(name) && !isOfList(name));
    expect(missing).toEqual([]);
  });
});

describe("docs/decisions", () => {
  const files = readdirSync(join(project, "docs/decisions")).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const index = read("docs/decisions/README.md");

  test.each(files)("%s has every part and is in the index", (file) => {
    const text = read(`docs/decisions/${file}`);
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 4)}\\. `));
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual([
      "Context",
      "Decision",
      "Consequences",
    ]);
    expect(index).toContain(`](${file})`);
  });
});
