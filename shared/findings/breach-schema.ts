import * as z from "zod/mini";
import { activityEntry } from "../access/activity/activity-schema.ts";
import { count, idField, idParameter, listParameter, pageQuery } from "../contract/page.ts";
import { fold } from "../contract/search-text.ts";
import { isSeen, text, textSuchAs, timestamp } from "../contract/text.ts";
import { severities } from "../hibp/severity-schema.ts";
import { detailedBreach } from "./finding-schema.ts";

const assignee = z.object({ id: idField, label: textSuchAs("Grace Hopper") });
export type Assignee = z.infer<typeof assignee>;

/** Who has a breach in hand, and how much was said of it. */
export const triage = {
  assignee: z.nullable(assignee).check(z.meta({ description: "The member who has the breach in hand" })),
  comments: count.check(z.meta({ description: "How many comments it has" })),
};
export type Triage = z.infer<z.ZodMiniObject<typeof triage>>;

export const commentText = text(1000, { multiline: true }).check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  isSeen,
);

export const comment = z
  .object({
    id: idField.check(z.meta({ description: "Its number among the comments on the breach" })),
    createdAt: timestamp,
    text: textSuchAs("The provider has reset all passwords"),
    author: activityEntry.shape.actor,
  })
  .check(z.meta({ id: "Comment" }));
export type Comment = z.infer<typeof comment>;

/** A breach with what the organization has found of it, or which addresses that nobody watches are in it. */
export const foundBreach = z
  .object({
    ...detailedBreach.shape,
    ...triage,
    open: count.check(z.meta({ description: "Findings of it that are not acknowledged" })),
    acknowledged: count,
    unwatched: count.check(
      z.meta({ description: "Addresses in it that nobody watches, without ignored ones" }),
    ),
    firstDetectedAt: z.nullable(timestamp).check(
      z.meta({
        description:
          "The earliest `firstDetectedAt` of its findings, those deleted with their e-mail included. " +
          "Null without findings",
      }),
    ),
    lastDetectedAt: z.nullable(timestamp).check(
      z.meta({
        description:
          "The latest `firstDetectedAt` of its findings, those deleted with their e-mail included. " +
          "Null without findings",
      }),
    ),
  })
  .check(z.meta({ id: "FoundBreach" }));
export type FoundBreach = z.infer<typeof foundBreach>;

/** Accents by themselves fold to an empty text, and every text contains that. */
const isFindable = (q: string): boolean => fold(q).trim() !== "";

const order = z.enum(["severity", "open", "newest"], "order must be severity, open or newest");
export type FoundBreachOrder = z.infer<typeof order>;

export const foundBreachQuery = {
  ...pageQuery,
  state: z.optional(z.enum(["open", "handled"], "state must be open or handled")).check(
    z.meta({
      description:
        "`open`: only breaches with open findings or `unwatched` addresses; `handled`: only those without",
    }),
  ),
  severity: z
    .optional(listParameter("severity", severities))
    .check(z.meta({ description: "Only with one of these severities", examples: [["critical", "high"]] })),
  q: z
    .optional(
      text(200).check(
        z.trim(),
        z.minLength(1, "q must not be empty"),
        z.refine(isFindable, "q must have more than accents"),
      ),
    )
    .check(
      z.meta({
        description: "A part of the title, the name or the domain, without case and accents",
        examples: ["pay"],
      }),
    ),
  assignee: z
    .optional(
      z.union(
        [z.enum(["me", "none"]), idParameter("assignee")],
        "assignee must be me, none or the id of a member",
      ),
    )
    .check(
      z.meta({
        description: "Only those that this member has in hand, the caller (`me`), or nobody (`none`)",
        examples: ["me"],
      }),
    ),
  order: z._default(order, "severity").check(
    z.meta({
      description:
        "`severity`: critical first, and within a severity the latest `breachDate`; `open`: most open " +
        "findings first; `newest`: by `lastDetectedAt`, those without findings last",
      examples: ["severity"],
    }),
  ),
};
