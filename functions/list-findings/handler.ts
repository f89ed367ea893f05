import { serve } from "../../shared/access/api/serve.ts";
import * as findingList from "../../shared/findings/finding-list.ts";
import { listFindings } from "./endpoint.ts";

export const handler = serve(listFindings, ({ org, query }) => findingList.list(org, query));
