import { scheduled } from "../../shared/queue/scheduled.ts";
import { sweep } from "../../shared/scans/sweep.ts";

export const handler = scheduled((_, invocation) =>
  sweep(invocation, {
    silenceSeconds: Number(process.env.SILENCE_INTERVAL_SECONDS),
    deletionSeconds: Number(process.env.DELETION_INTERVAL_SECONDS),
  }),
);
