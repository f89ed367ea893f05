import { consume } from "../../shared/aws/queue/consume.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";

export const handler = consume("scan-lookups", lookUp);
