import { serve } from "../../shared/access/api/serve.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import { getFinding } from "./endpoint.ts";

export const handler = serve(getFinding, ({ org, path }) => detailed.get(org, path.id));
