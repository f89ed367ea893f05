/** Prints what functions may do, from the template in cdk.out; with `--write` into docs/permissions.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { permissionTable } from "./table.ts";

const project = join(import.meta.dirname, "..", "..");
const template = join(project, "cdk.out", "breach-monitor-production.template.json");
const table = permissionTable(JSON.parse(readFileSync(template, "utf8")));
if (process.argv.includes("--write")) writeFileSync(join(project, "docs", "permissions.md"), table);
else console.log(table.trimEnd());
