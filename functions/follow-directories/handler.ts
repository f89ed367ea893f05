import { consume } from "../../shared/aws/queue/consume.ts";
import { work } from "../../shared/people/follow/work.ts";

export const handler = consume("directory-changes", work);
