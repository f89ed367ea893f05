import * as z from "zod/mini";
import { count, listParameter, pageQuery } from "../contract/page.ts";
import { fold } from "../contract/search-text.ts";
import { text, timestamp } from "../contract/text.ts";
import { severities } from "../hibp/severity-schema.ts";
import { detailedBreach } from "./finding-schema.ts";

/** A breach with what the organization has found of it, or which addresses that nobody watches are in it. */
export const foundBreach = z
  .object({
    ...detailedBreach.shape,
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
  order: z._default(order, "severity").check(
    z.meta({
      description:
        "`severity`: critical first, most open findings first within a severity; `open`: most " +
        "open findings first; `newest`: by `lastDetectedAt`, those without findings last",
      examples: ["severity"],
    }),
  ),
};
