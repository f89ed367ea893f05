import { work } from "../../shared/acknowledgements/work.ts";
import { consume } from "../../shared/queue/consume.ts";

export const handler = consume("acknowledgements", work);
