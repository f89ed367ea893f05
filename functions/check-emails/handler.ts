import { consume } from "../../shared/queue/consume.ts";
import { check } from "../../shared/scans/check.ts";

export const handler = consume("scan-checks", check);
