/** `npm run openapi`: writes the OpenAPI document of each part of the API, from the contracts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "./document.ts";
import { dashboard, v1 } from "./parts.ts";

const project = join(import.meta.dirname, "..", "..");
for (const [file, part] of [
  ["openapi.json", v1],
  ["openapi-dashboard.json", dashboard],
] as const) {
  writeFileSync(join(project, file), `${JSON.stringify(openApiDocument(part), null, 2)}\n`);
}
