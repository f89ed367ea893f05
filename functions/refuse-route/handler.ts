import { answering } from "../../shared/access/api/answer.ts";
import { fromAnyContext } from "../../shared/access/api/principal.ts";
import { Refusal } from "../../shared/contract/errors.ts";

/**
 * Answers undeclared routes under /api/v1 and /api/dashboard: 405 with `Allow` for a known path, otherwise 404. DECLARED_METHODS
 * is JSON with the methods of each declared path; importing routes.ts instead would bundle every endpoint's
 * contract.
 */
export const handler = answering(async (event) => {
  fromAnyContext(event.requestContext.authorizer);
  const declared: Record<string, string[]> = JSON.parse(process.env.DECLARED_METHODS ?? "");
  const path = event.requestContext.resourcePath;
  const methods = Object.hasOwn(declared, path) ? declared[path] : undefined;
  if (methods === undefined) throw new Refusal("notFound");
  throw new Refusal("methodNotAllowed", { headers: { Allow: methods.join(", ") } });
});
