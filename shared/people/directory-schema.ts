import * as z from "zod/mini";
import { count, idField } from "../contract/page.ts";
import { notEmpty } from "../contract/patch.ts";
import { nameOf, textSuchAs, timestamp } from "../contract/text.ts";

export const directoryName = nameOf(100).check(z.meta({ examples: ["Entra ID"] }));

export const teamFrom = z.enum(["none", "department", "group"]).check(
  z.meta({
    description: "Where the teams of people come from: their department, or their first group by name",
  }),
);
export type TeamFrom = z.infer<typeof teamFrom>;

/** The base url of SCIM, which the directory asks for. */
export const scimUrl = textSuchAs("https://abc123.execute-api.eu-central-1.amazonaws.com/api/scim/v2").check(
  z.meta({ description: "Where the directory sends its requests (SCIM 2.0)" }),
);

export const token = textSuchAs("bmd_…").check(
  z.meta({ description: "The bearer token of the directory, shown this once" }),
);

export const listedDirectory = z
  .object({
    id: idField,
    name: textSuchAs("Entra ID"),
    createdAt: timestamp,
    teamFrom,
    lastRequestAt: z
      .nullable(timestamp)
      .check(z.meta({ description: "When its latest request came, exact to a minute" })),
    users: count,
    activeUsers: count,
    groups: count,
    addresses: z.object({
      watched: count.check(z.meta({ description: "Enabled e-mails that it names" })),
      disabled: count.check(z.meta({ description: "Disabled e-mails that it names, or has named" })),
      otherDomains: count.check(
        z.meta({ description: "Addresses that nobody watches, as their domain is not verified here" }),
      ),
    }),
  })
  .check(z.meta({ id: "Directory" }));
export type ListedDirectory = z.infer<typeof listedDirectory>;

export const directoryChange = z
  .strictObject({
    name: z.optional(directoryName),
    teamFrom: z.optional(teamFrom),
    newToken: z.optional(z.literal(true)),
  })
  .check(notEmpty);
