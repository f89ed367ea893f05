/** `npm run openapi`: writes the OpenAPI document of each part of the API, from the contracts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "./document.ts";
import { dashboard, v1 } from "./parts.ts";

const [, , option] = process.argv;
if (option !== undefined) {
  console.error(`"npm run openapi" takes no options, and "${option}" is one. Nothing was written.`);
  process.exit(1);
}
const project = join(import.meta.dirname, "..", "..");
for (const [file, part] of [
  ["openapi.json", v1],
  ["openapi-dashboard.json", dashboard],
] as const) {
  writeFileSync(join(project, file), `${JSON.stringify(openApiDocument(part), null, 2)}\n`);
}
