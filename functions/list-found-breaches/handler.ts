import { serve } from "../../shared/access/api/serve.ts";
import * as breaches from "../../shared/findings/breaches.ts";
import { listFoundBreaches } from "./endpoint.ts";

export const handler = serve(listFoundBreaches, ({ org, query }) => breaches.list(org, query));
