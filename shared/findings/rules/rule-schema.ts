import * as z from "zod/mini";
import { count } from "../../contract/page.ts";
import { textSuchAs, timestamp } from "../../contract/text.ts";

/** The rules that there are. Where several hold, the first one ends a finding. */
export const rulesInOrder = ["left", "password_changed", "harmless"] as const;

export const ruleId = z.enum(rulesInOrder);
export type RuleId = z.infer<typeof ruleId>;

export const byRule = z.object({ id: ruleId });

/** Who ended a finding: people (also by API keys and commands), or a rule. No finding is `answered` yet. */
export const enders = ["person", ...rulesInOrder, "answered"] as const;
export type Ender = (typeof enders)[number];

const endingRule = z.enum(["left", "password_changed", "harmless", "answered"]);

/** Of a finding's details. */
export const endedBy = z
  .nullable(
    z.object({
      rule: endingRule,
      fact: textSuchAs("Ada Lovelace left (Entra, 3 Nov 2026)").check(
        z.meta({ description: "Why it holds, in a sentence for people" }),
      ),
      at: timestamp,
    }),
  )
  .check(
    z.meta({
      description:
        "The rule that ended it; null while it is open, and where people have acknowledged it. " +
        "Then `acknowledgedBy` and `acknowledgedByApiKey` are both null",
      examples: [null],
    }),
  );

const isOn = z.boolean().check(z.meta({ examples: [true] }));
const changedAt = z
  .nullable(timestamp)
  .check(z.meta({ description: "When somebody switched it last; null: never" }));

export const rule = z
  .object({
    id: ruleId,
    isOn,
    changedAt,
    ended: z
      .object({
        total: count.check(z.meta({ description: "Findings that it has ended and that still are" })),
        lastWeek: count.check(
          z.meta({
            description: "Those of them that it ended since the beginning of the day 7 days ago (UTC)",
          }),
        ),
      })
      .check(
        z.meta({ description: "Findings that people have acknowledged or reopened since do not count" }),
      ),
  })
  .check(z.meta({ id: "Rule" }));
export type Rule = z.infer<typeof rule>;
