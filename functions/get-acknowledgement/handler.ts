import { serve } from "../../shared/access/api/serve.ts";
import * as acknowledgements from "../../shared/findings/acknowledgements/acknowledgement.ts";
import { getAcknowledgement } from "./endpoint.ts";

export const handler = serve(getAcknowledgement, ({ org, path }) => acknowledgements.get(org, path.id));
