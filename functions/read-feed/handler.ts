import { serve } from "../../shared/access/api/serve.ts";
import * as feed from "../../shared/findings/feed/feed.ts";
import { readFeed } from "./endpoint.ts";

export const handler = serve(readFeed, ({ org, query }) => feed.read(org, query, new Date()));
