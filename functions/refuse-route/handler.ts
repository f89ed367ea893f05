import { Refusal } from "../../shared/api/errors.ts";
import { refuseAll } from "../../shared/api/serve.ts";
import { routes } from "../routes.ts";

/** Everything under /api/v1 that is not declared: 405 with `Allow` for a known path, else 404. */
export const handler = refuseAll((event) => {
  const path = event.requestContext.resourcePath.replace(/^\/v1/, "");
  const methods = routes.filter((route) => route.path === path).map((route) => route.method);
  if (methods.length === 0) throw new Refusal("notFound");
  throw new Refusal("methodNotAllowed", { headers: { Allow: methods.join(", ") } });
});
