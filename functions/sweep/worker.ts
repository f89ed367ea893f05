import { silenceSeconds } from "../../shared/contract/job-timing.ts";
import { proofDaySeconds, proofLossSeconds } from "../../shared/contract/proof-timing.ts";
import { defineScheduledWorker } from "../../shared/contract/worker.ts";

/** Lambda ends every function after this long. */
const maximumLambdaSeconds = 900;

export const sweep = defineScheduledWorker({
  everyMinutes: 5,
  isWatchman: true,
  impact:
    "Interrupted scans, removals, deletions and acknowledgements stay as they are, findings do " +
    "not follow the severity of their breach, lost sign-in links are not mailed, and no domain's " +
    "record is looked up",
  timeoutSeconds: 240,
  intervals: {
    SILENCE_INTERVAL_SECONDS: silenceSeconds,
    // By then no function that was at work for the organization when its deletion began can still write.
    DELETION_INTERVAL_SECONDS: maximumLambdaSeconds,
    PROOF_INTERVAL_SECONDS: proofDaySeconds,
    PROOF_LOSS_INTERVAL_SECONDS: proofLossSeconds,
  },
  uses: [
    "table:read",
    "table:write",
    "table:write:organizations",
    "table:delete:organizations",
    "table:write:channels",
    "table:write:domains",
    "table:write:identities",
    "table:write:directories",
    "table:due-index",
    "queue:scan-plans",
    "queue:outbox",
    "queue:acknowledgements",
    "queue:directory-changes",
    "queue:sign-in-mails",
  ],
});
