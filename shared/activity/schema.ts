import * as z from "zod";

/** interface.md "Activity entry". */
export const category = z.enum(["monitoring", "findings", "alerts", "teams", "api_keys"]);

export const activityEntry = z.object({
  id: z.int(),
  createdAt: z.string(),
  category,
  action: z.string(),
  summary: z.string(),
  actor: z.object({
    type: z.enum(["user", "api_key", "system", "removed", "support"]),
    label: z.string(),
  }),
});
export type ActivityEntry = z.infer<typeof activityEntry>;
