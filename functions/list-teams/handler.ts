import { serve } from "../../shared/api/serve.ts";
import * as teamList from "../../shared/emails/team-list.ts";
import { listTeams } from "./endpoint.ts";

export const handler = serve(listTeams, ({ org, query }) => teamList.list(org, query));
