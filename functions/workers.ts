import type { OnDemandWorker, QueueWorker, ScheduledWorker } from "../shared/contract/worker.ts";
import { acknowledgeFindings } from "./acknowledge-findings/worker.ts";
import { checkEmails } from "./check-emails/worker.ts";
import { deliverAlert, retryAlert } from "./deliver-alert/worker.ts";
import { followDirectories } from "./follow-directories/worker.ts";
import { lookUpEmails } from "./look-up-emails/worker.ts";
import { mailSignInLink } from "./mail-sign-in-link/worker.ts";
import { planScan } from "./plan-scan/worker.ts";
import { raiseAlerts } from "./raise-alerts/worker.ts";
import { redispatchAlerts } from "./redispatch-alerts/worker.ts";
import { startScheduledScan } from "./start-scheduled-scan/worker.ts";
import { sweep } from "./sweep/worker.ts";
import { syncCatalog } from "./sync-catalog/worker.ts";

/**
 * Every worker that a queue invokes: the name of its function, the folder of its handler and its contract.
 */
export const queueWorkers: readonly { name: string; folder: string; worker: QueueWorker }[] = [
  { name: "plan-scan", folder: "plan-scan", worker: planScan },
  { name: "check-emails", folder: "check-emails", worker: checkEmails },
  { name: "look-up-emails", folder: "look-up-emails", worker: lookUpEmails },
  { name: "raise-alerts", folder: "raise-alerts", worker: raiseAlerts },
  { name: "deliver-alert", folder: "deliver-alert", worker: deliverAlert },
  { name: "retry-alert", folder: "deliver-alert", worker: retryAlert },
  { name: "acknowledge-findings", folder: "acknowledge-findings", worker: acknowledgeFindings },
  { name: "follow-directories", folder: "follow-directories", worker: followDirectories },
  { name: "mail-sign-in-link", folder: "mail-sign-in-link", worker: mailSignInLink },
];

/** Every worker that runs at a fixed rate. */
export const scheduledWorkers: readonly { name: string; folder: string; worker: ScheduledWorker }[] = [
  { name: "redispatch-alerts", folder: "redispatch-alerts", worker: redispatchAlerts },
  { name: "sweep", folder: "sweep", worker: sweep },
  { name: "sync-catalog", folder: "sync-catalog", worker: syncCatalog },
];

/** Every worker that is invoked by schedules which the service creates at run time. */
export const onDemandWorkers: readonly { name: string; folder: string; worker: OnDemandWorker }[] = [
  { name: "start-scheduled-scan", folder: "start-scheduled-scan", worker: startScheduledScan },
];
