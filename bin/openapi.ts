/** `npm run openapi`: writes openapi.json, the OpenAPI document of the interface, from the contracts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../functions/routes.ts";
import { openApiDocument } from "../shared/api/openapi.ts";

const file = join(import.meta.dirname, "..", "openapi.json");
writeFileSync(file, `${JSON.stringify(openApiDocument(routes), null, 2)}\n`);
