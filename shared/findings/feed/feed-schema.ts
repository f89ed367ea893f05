import * as z from "zod/mini";
import { activityEntry } from "../../access/activity/activity-schema.ts";
import { timestamp } from "../../contract/text.ts";
import { exportedFinding } from "../finding-schema.ts";

export const feedFormat = z.enum(["native", "ocsf"], "format must be native or ocsf");
export type FeedFormat = z.infer<typeof feedFormat>;

const at = timestamp.check(z.meta({ description: "When it was first detected, or logged" }));

const findingItem = z
  .object({ type: z.literal("finding"), at, finding: exportedFinding })
  .check(z.meta({ id: "FeedFinding" }));

const activityItem = z
  .object({ type: z.literal("activity"), at, entry: activityEntry })
  .check(z.meta({ id: "FeedActivity" }));

export type NativeItem = z.infer<typeof findingItem> | z.infer<typeof activityItem>;

/** What every event of OCSF has; the rest is as its schema says. */
const ocsfEvent = z
  .looseObject({
    class_uid: z.int().check(z.meta({ description: "2004: Detection Finding; 6003: API Activity" })),
    category_uid: z.int(),
    activity_id: z.int(),
    type_uid: z.int(),
    severity_id: z.int(),
    time: z.int().check(z.meta({ description: "Milliseconds since 1970" })),
    message: z.string(),
    metadata: z.looseObject({ version: z.string(), uid: z.string() }),
  })
  .check(
    z.meta({
      id: "OcsfEvent",
      description: "An event of the Open Cybersecurity Schema Framework 1.8.0, for `format=ocsf`",
    }),
  );
export type OcsfEvent = z.infer<typeof ocsfEvent>;

export const feedItem = z.union([findingItem, activityItem, ocsfEvent]);
export type FeedItem = z.infer<typeof feedItem>;
