import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { time, timestamp } from "../../contract/text.ts";
import { severities, severity } from "../../hibp/severity-schema.ts";
import { acknowledgeReason, resolution } from "../finding-schema.ts";
import { enders } from "../rules/rule-schema.ts";

const maximumIds = 1000;
const someIds = z.array(idField).check(z.minLength(1), z.maxLength(maximumIds));

/** Strict: a misspelled name of a filter would otherwise acknowledge more than was meant. */
export const findingFilter = z
  .strictObject({
    ids: z.optional(
      someIds.check(
        z.meta({
          description:
            "Findings with one of these ids. With `acknowledged`, those that somebody else has " +
            "changed meanwhile are left out",
        }),
      ),
    ),
    acknowledged: z.optional(z.boolean()),
    breachId: z.optional(idField),
    domainId: z.optional(idField),
    emailId: z.optional(idField),
    severity: z.optional(
      z
        .array(severity)
        .check(z.minLength(1), z.maxLength(severities.length), z.meta({ description: "One of these" })),
    ),
    scanId: z.optional(idField.check(z.meta({ description: "The scan that first detected the finding" }))),
    told: z.optional(
      z.boolean().check(z.meta({ description: "Findings with or without a message to their owner" })),
    ),
    endedBy: z.optional(
      z.enum(enders).check(z.meta({ description: "Findings that people, or this rule, have ended" })),
    ),
    detectedBefore: z.optional(
      time.check(z.meta({ description: "Findings whose `firstDetectedAt` is earlier" })),
    ),
    acknowledgedAt: z.optional(
      time.check(
        z.meta({
          description:
            "Findings that were acknowledged at exactly this time. All findings that a request " +
            "acknowledges get its `createdAt`",
        }),
      ),
    ),
  })
  .check(
    z.meta({
      id: "AcknowledgementFilter",
      description: "Fields combine with AND; `{}` means all findings. Unknown fields are refused",
      examples: [{ breachId: 1, severity: ["critical", "high"] }],
    }),
  );
export type FindingFilter = z.infer<typeof findingFilter>;

const request = {
  ids: z.optional(
    someIds.check(
      z.meta({ description: "Ids of findings. If one of them is not the organization's, nothing is done" }),
    ),
  ),
  filter: z.optional(findingFilter),
  reason: z.optional(acknowledgeReason),
  dryRun: z._default(
    z.boolean().check(z.meta({ description: "Only tell how many findings there are" })),
    false,
  ),
};

const exactlyOne = z.refine<{ ids?: number[] | undefined; filter?: FindingFilter | undefined }>(
  ({ ids, filter }) => (ids === undefined) !== (filter === undefined),
  { error: "Exactly one of ids and filter is required", path: [] },
);

export const acknowledgementRequest = z
  .object({ ...request, resolution: z._default(resolution, "handled") })
  .check(exactlyOne);
export type AcknowledgementRequest = z.infer<typeof acknowledgementRequest>;

export const reopeningRequest = z.object(request).check(exactlyOne);

export const matching = count.check(
  z.meta({ description: "How many findings the request was about when it was made" }),
);

const state = {
  id: idField,
  status: z.enum(["running", "completed", "failed"]).check(z.meta({ examples: ["completed"] })),
  matching,
};
const times = { createdAt: timestamp, completedAt: z.nullable(timestamp) };

export const acknowledgement = z
  .object({
    ...state,
    acknowledged: count.check(
      z.meta({
        description:
          "How many of them this request has acknowledged so far. Findings that were removed, " +
          "acknowledged by somebody else or changed in severity after the request are left out",
      }),
    ),
    ...times,
  })
  .check(z.meta({ id: "Acknowledgement" }));
export type Acknowledgement = z.infer<typeof acknowledgement>;

export const reopening = z
  .object({
    ...state,
    reopened: count.check(
      z.meta({
        description:
          "How many of them this request has reopened so far. Findings that were removed, " +
          "acknowledged anew or changed in severity after the request are left out",
      }),
    ),
    ...times,
  })
  .check(z.meta({ id: "Reopening" }));
export type Reopening = z.infer<typeof reopening>;
