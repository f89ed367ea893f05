import { routes } from "../../functions/routes.ts";
import type { Client, Reply } from "../service/client.ts";

/** Sends one request to every endpoint; gives the replies. */
export const requestEveryEndpoint = (api: Client): Promise<Reply[]> =>
  Promise.all(
    routes.map(({ method, path, endpoint }) =>
      api.request(method, path.replace("{id}", "1"), "body" in endpoint ? { body: {} } : {}),
    ),
  );
