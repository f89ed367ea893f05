import { serve } from "../../shared/access/api/serve.ts";
import { preview } from "../../shared/findings/rules/preview.ts";
import { previewRule } from "./endpoint.ts";

export const handler = serve(previewRule, ({ org, path: { id } }) => preview(org, id));
