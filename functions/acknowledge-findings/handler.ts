import { consume } from "../../shared/aws/queue/consume.ts";
import { work } from "../../shared/findings/acknowledgements/work.ts";

export const handler = consume("acknowledgements", work);
