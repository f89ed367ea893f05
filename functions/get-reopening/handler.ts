import { serve } from "../../shared/access/api/serve.ts";
import * as acknowledgements from "../../shared/findings/acknowledgements/acknowledgement.ts";
import { getReopening } from "./endpoint.ts";

export const handler = serve(getReopening, ({ org, path }) => acknowledgements.getReopening(org, path.id));
