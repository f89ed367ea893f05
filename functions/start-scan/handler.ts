import { serve } from "../../shared/access/api/serve.ts";
import { start } from "../../shared/scanning/start.ts";
import { startScan } from "./endpoint.ts";

export const handler = serve(startScan, async ({ org, actor, count, repeat }) => {
  const replyWith = (scanJobId: number) => ({ success: true, scanJobId });
  const scanJobId = await start(org, "manual", actor, count, {
    withStart: (id) => repeat.remember(replyWith(id)),
    withFailure: repeat.forget,
  });
  return replyWith(scanJobId);
});
