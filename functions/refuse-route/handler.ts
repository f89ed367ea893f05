import { Refusal } from "../../shared/api/errors.ts";
import { refuseAll } from "../../shared/api/refuse.ts";

/**
 * Everything under /api/v1 that is not declared: 405 with `Allow` for a known path, else 404. DECLARED_METHODS holds the
 * methods of each declared path as JSON; importing the routes would bring every endpoint's contract along.
 */
export const handler = refuseAll((event) => {
  const declared: Record<string, string[]> = JSON.parse(process.env.DECLARED_METHODS ?? "");
  const path = event.requestContext.resourcePath.replace(/^\/v1/, "");
  const methods = Object.hasOwn(declared, path) ? declared[path] : undefined;
  if (methods === undefined) throw new Refusal("notFound");
  throw new Refusal("methodNotAllowed", { headers: { Allow: methods.join(", ") } });
});
