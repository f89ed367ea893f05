import { answering } from "../../shared/access/api/answer.ts";
import { fromAnyContext } from "../../shared/access/api/principal.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { methodsByPath } from "../parts.ts";

/**
 * Answers undeclared routes under /api/v1 and /api/dashboard: 405 with `Allow` for a known path, otherwise 404.
 * It bundles every contract: the table of paths would outgrow the 4 KB that a function's environment may take.
 */
export const handler = answering(async (event) => {
  fromAnyContext(event.requestContext.authorizer);
  const methods = methodsByPath.get(event.requestContext.resourcePath);
  if (methods === undefined) throw new Refusal("notFound");
  throw new Refusal("methodNotAllowed", { headers: { Allow: methods.join(", ") } });
});
