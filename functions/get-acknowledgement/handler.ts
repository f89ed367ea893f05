import * as acknowledgements from "../../shared/acknowledgements/acknowledgement.ts";
import { serve } from "../../shared/api/serve.ts";
import { getAcknowledgement } from "./endpoint.ts";

export const handler = serve(getAcknowledgement, ({ org, path }) => acknowledgements.get(org, path.id));
