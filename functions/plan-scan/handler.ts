import { consume } from "../../shared/aws/queue/consume.ts";
import { plan } from "../../shared/scanning/plan.ts";

export const handler = consume("scan-plans", plan);
