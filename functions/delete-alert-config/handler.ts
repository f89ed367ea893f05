import * as channels from "../../shared/alerts/channel.ts";
import { deleteHistory } from "../../shared/alerts/history.ts";
import { serve } from "../../shared/api/serve.ts";
import { deleteAlertConfig } from "./endpoint.ts";

/** A long history is left to the sweep, so that the client gets its reply in time. */
const historySeconds = 15;

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  const until = Date.now() + historySeconds * 1000;
  await channels.remove(org, path.id, actor);
  // The channel is gone, whatever becomes of its history: the sweep deletes what is left, and says what goes wrong then.
  await deleteHistory(org, path.id, () => Date.now() < until).catch(() => {});
  return { ok: true };
});
