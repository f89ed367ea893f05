import * as z from "zod/mini";
import { idField } from "../api/page.ts";
import { timestamp } from "../api/text.ts";
import { categoryOf } from "./actions.ts";

/** interface.md "Activity entry". */
export const category = z.enum(["monitoring", "findings", "alerts", "teams", "api_keys"]);

export const activityEntry = z
  .object({
    id: idField,
    createdAt: timestamp,
    category,
    action: z.string().check(
      z.meta({
        description: `${Object.keys(categoryOf)
          .map((action) => `\`${action}\``)
          .join(", ")}; others may come`,
        examples: ["email.added"],
      }),
    ),
    summary: z.string().check(z.meta({ description: "For people; the wording may change" })),
    actor: z.object({
      type: z.enum(["user", "api_key", "system", "removed", "support"]),
      label: z.string(),
    }),
  })
  .check(z.meta({ id: "ActivityEntry" }));
export type ActivityEntry = z.infer<typeof activityEntry>;
