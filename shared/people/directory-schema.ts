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
    withoutAddress: count.check(
      z.meta({ description: "Active users without an address that could be watched" }),
    ),
  })
  .check(z.meta({ id: "Directory" }));
export type ListedDirectory = z.infer<typeof listedDirectory>;

/** As users see it: with its url, if they are admins. */
export const shownDirectory = z
  .object({ ...listedDirectory.shape, url: z.optional(scimUrl) })
  .check(z.meta({ id: "ShownDirectory" }));

/** What a directory has brought that cannot be watched. */
export const unusable = z.object({
  otherDomains: z
    .object({
      domains: z
        .array(z.object({ name: textSuchAs("subsidiary.example"), addresses: count }))
        .check(z.meta({ description: "The 20 with the most addresses" })),
      total: count.check(z.meta({ description: "How many domains there are, up to 1,000" })),
    })
    .check(z.meta({ description: "Unverified domains of addresses that nobody watches" })),
  withoutAddress: z
    .array(z.object({ displayName: textSuchAs("Ada Lovelace"), userName: textSuchAs("ada") }))
    .check(z.meta({ description: "The newest 20 active users without an address that could be watched" })),
});
export type Unusable = z.infer<typeof unusable>;

export const directoryChange = z
  .strictObject({
    name: z.optional(directoryName),
    teamFrom: z.optional(teamFrom),
    newToken: z.optional(z.literal(true)),
  })
  .check(notEmpty);
