import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count, idField } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";

export const tellOwners = defineEndpoint({
  summary: "Tell the owners of breached addresses by e-mail",
  description:
    "Each owner gets one message: what leaked, what to do, and whom to ask. Nobody is told of a " +
    "finding twice within a day, by hand or by a channel. Disabled addresses, those of domains " +
    "that are not verified, owners who have unsubscribed, and sensitive breaches are left out.",
  access: "user",
  body: z.object({
    ids: z.array(idField).check(
      z.minLength(1),
      z.maxLength(100),
      z.meta({
        description: "Ids of findings. If one of them is not the organization's, nobody is told",
      }),
    ),
    dryRun: z
      .optional(z.boolean())
      .check(z.meta({ description: "Tells nobody, and says how many people would be told" })),
  }),
  status: 202,
  reply: z.object({
    matching: count.check(z.meta({ description: "How many people are told now" })),
  }),
  instead: {
    when: "With `dryRun`: nobody is told",
    status: 200,
    reply: z.object({
      matching: count.check(z.meta({ description: "How many people would be told now" })),
      mails: z.object({ left: count, until: timestamp }).check(
        z.meta({
          description:
            "How many messages to owners the mail budget lets out now; the others go from this hour on, " +
            "or later where too many wait",
        }),
      ),
    }),
  },
  refusals: ["findingNotFound"],
  uses: ["table:read", "table:write", "queue:deliveries"],
  timeoutSeconds: 29,
});
