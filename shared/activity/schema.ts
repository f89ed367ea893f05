import * as z from "zod";
import { idField } from "../api/page.ts";
import { timestamp } from "../api/text.ts";

/** interface.md "Activity entry". */
export const category = z.enum(["monitoring", "findings", "alerts", "teams", "api_keys"]);

export const activityEntry = z
  .object({
    id: idField,
    createdAt: timestamp,
    category,
    action: z.string().meta({ examples: ["email.added"] }),
    summary: z.string().meta({ description: "For people; the wording may change" }),
    actor: z.object({
      type: z.enum(["user", "api_key", "system", "removed", "support"]),
      label: z.string(),
    }),
  })
  .meta({ id: "ActivityEntry" });
export type ActivityEntry = z.infer<typeof activityEntry>;
