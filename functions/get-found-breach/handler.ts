import { serve } from "../../shared/access/api/serve.ts";
import * as breaches from "../../shared/findings/breaches.ts";
import { getFoundBreach } from "./endpoint.ts";

export const handler = serve(getFoundBreach, ({ org, path }) => breaches.get(org, path.id));
