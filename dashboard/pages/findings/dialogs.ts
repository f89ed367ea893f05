/** Dialogs that are no part of a first visit. */
import { onDemand } from "../../on-demand.tsx";

export const AcknowledgeDialog = onDemand(
  async () => (await import("./acknowledge-dialog.tsx")).AcknowledgeDialog,
);
export const TellDialog = onDemand(async () => (await import("./tell.tsx")).TellDialog);
export const ExportFindings = onDemand(async () => (await import("./export.tsx")).ExportFindings);
