import { consume } from "../../shared/queue/consume.ts";
import { plan } from "../../shared/scans/plan.ts";

export const handler = consume("scan-plans", plan);
