import { consume } from "../../shared/queue/consume.ts";
import { lookUp } from "../../shared/scans/look-up.ts";

export const handler = consume("scan-lookups", lookUp);
