import { serve } from "../../shared/access/api/serve.ts";
import * as teamList from "../../shared/monitoring/teams/team-list.ts";
import { listTeams } from "./endpoint.ts";

export const handler = serve(listTeams, ({ org, query }) => teamList.list(org, query));
