import type { Route } from "../shared/contract/endpoint.ts";
import { acknowledgeBreach } from "./acknowledge-breach/endpoint.ts";
import { acknowledgeBreaches } from "./acknowledge-breaches/endpoint.ts";
import { addEmail } from "./add-email/endpoint.ts";
import { changeAlertConfig } from "./change-alert-config/endpoint.ts";
import { changeEmail } from "./change-email/endpoint.ts";
import { commitImport } from "./commit-import/endpoint.ts";
import { createAlertConfig } from "./create-alert-config/endpoint.ts";
import { deleteAlertConfig } from "./delete-alert-config/endpoint.ts";
import { getAcknowledgement } from "./get-acknowledgement/endpoint.ts";
import { getAlertOptions } from "./get-alert-options/endpoint.ts";
import { getEvent } from "./get-event/endpoint.ts";
import { getReopening } from "./get-reopening/endpoint.ts";
import { getScanCoverage } from "./get-scan-coverage/endpoint.ts";
import { listActivity } from "./list-activity/endpoint.ts";
import { listAlertConfigs } from "./list-alert-configs/endpoint.ts";
import { listBreaches } from "./list-breaches/endpoint.ts";
import { listEmails } from "./list-emails/endpoint.ts";
import { listScans } from "./list-scans/endpoint.ts";
import { previewImport } from "./preview-import/endpoint.ts";
import { readFeed } from "./read-feed/endpoint.ts";
import { removeEmail } from "./remove-email/endpoint.ts";
import { reopenBreaches } from "./reopen-breaches/endpoint.ts";
import { setAlertOptions } from "./set-alert-options/endpoint.ts";
import { startScan } from "./start-scan/endpoint.ts";

/**
 * Every endpoint: its method, its path below /api/v1, the name of its function and folder, and its contract.
 */
export const routes = [
  { method: "POST", path: "/scans", name: "start-scan", endpoint: startScan },
  { method: "GET", path: "/scans", name: "list-scans", endpoint: listScans },
  { method: "GET", path: "/scans/{id}/coverage", name: "get-scan-coverage", endpoint: getScanCoverage },
  { method: "GET", path: "/activity", name: "list-activity", endpoint: listActivity },
  { method: "GET", path: "/feed", name: "read-feed", endpoint: readFeed },
  { method: "GET", path: "/emails", name: "list-emails", endpoint: listEmails },
  { method: "POST", path: "/emails", name: "add-email", endpoint: addEmail },
  { method: "DELETE", path: "/emails", name: "remove-email", endpoint: removeEmail },
  { method: "PATCH", path: "/emails/{id}", name: "change-email", endpoint: changeEmail },
  { method: "POST", path: "/emails/import/preview", name: "preview-import", endpoint: previewImport },
  { method: "POST", path: "/emails/import/commit", name: "commit-import", endpoint: commitImport },
  { method: "GET", path: "/breaches", name: "list-breaches", endpoint: listBreaches },
  { method: "POST", path: "/breaches/acknowledge", name: "acknowledge-breach", endpoint: acknowledgeBreach },
  {
    method: "POST",
    path: "/breaches/acknowledgements",
    name: "acknowledge-breaches",
    endpoint: acknowledgeBreaches,
  },
  {
    method: "GET",
    path: "/breaches/acknowledgements/{id}",
    name: "get-acknowledgement",
    endpoint: getAcknowledgement,
  },
  {
    method: "POST",
    path: "/breaches/reopenings",
    name: "reopen-breaches",
    endpoint: reopenBreaches,
  },
  {
    method: "GET",
    path: "/breaches/reopenings/{id}",
    name: "get-reopening",
    endpoint: getReopening,
  },
  { method: "GET", path: "/events/{id}", name: "get-event", endpoint: getEvent },
  { method: "GET", path: "/alert-configs", name: "list-alert-configs", endpoint: listAlertConfigs },
  { method: "POST", path: "/alert-configs", name: "create-alert-config", endpoint: createAlertConfig },
  {
    method: "PATCH",
    path: "/alert-configs/{id}",
    name: "change-alert-config",
    endpoint: changeAlertConfig,
  },
  {
    method: "DELETE",
    path: "/alert-configs/{id}",
    name: "delete-alert-config",
    endpoint: deleteAlertConfig,
  },
  {
    method: "GET",
    path: "/alert-configs/{id}/options",
    name: "get-alert-options",
    endpoint: getAlertOptions,
  },
  {
    method: "PUT",
    path: "/alert-configs/{id}/options",
    name: "set-alert-options",
    endpoint: setAlertOptions,
  },
] as const satisfies readonly Route[];
