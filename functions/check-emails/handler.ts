import { consume } from "../../shared/aws/queue/consume.ts";
import { check } from "../../shared/scanning/check.ts";

export const handler = consume("scan-checks", check);
