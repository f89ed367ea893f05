import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { changeMember } from "./endpoint.ts";

export const handler = serve(changeMember, ({ org, actor, path, body }) =>
  users.change(org, path.id, body, actor),
);
