import * as z from "zod/mini";
import { idField } from "../../contract/page.ts";
import { textSuchAs, timestamp } from "../../contract/text.ts";
import { categoryOf } from "./actions.ts";

export const category = z.enum(["monitoring", "findings", "alerts", "teams", "api_keys"]);

export const actorFilter = z
  .string()
  .check(
    z.regex(
      /^([1-9]\d{0,15}|api_key|system|removed|support)$/,
      "actor must be the id of a user, or api_key, system, removed or support",
    ),
  );

export const activityEntry = z
  .object({
    id: idField,
    createdAt: timestamp,
    category,
    action: z.string().check(
      z.meta({
        description: `${Object.keys(categoryOf)
          .map((action) => `\`${action}\``)
          .join(", ")}; more may be added`,
        examples: ["email.added"],
      }),
    ),
    summary: textSuchAs("Added ada@demo.example").check(
      z.meta({ description: "For people to read; its wording may change" }),
    ),
    actor: z.object({
      type: z.enum(["user", "api_key", "system", "removed", "support"]),
      label: textSuchAs("Grace Hopper"),
    }),
  })
  .check(z.meta({ id: "ActivityEntry" }));
export type ActivityEntry = z.infer<typeof activityEntry>;
