import * as z from "zod/mini";
import { textSuchAs, timestamp } from "../contract/text.ts";

const maybe = (example: string) => z.nullable(textSuchAs(example));

/** The person behind an address, by one of the directories that name it. */
export const shownPerson = z
  .object({
    directory: textSuchAs("Entra ID").check(z.meta({ description: "The name of the directory" })),
    displayName: textSuchAs("Ada Lovelace"),
    title: maybe("Analyst"),
    department: maybe("Research"),
    manager: maybe("Charles Babbage").check(z.meta({ description: "The name of the manager" })),
    active: z.boolean().check(z.meta({ description: "False also of who was deleted" })),
    passwordChangedAt: z.nullable(timestamp),
    privileged: z.boolean(),
    groups: z.array(z.string()).check(z.meta({ description: "Names, in their order; 100 at most" })),
  })
  .check(z.meta({ id: "DirectoryPerson" }));
export type ShownPerson = z.infer<typeof shownPerson>;

/** What followed from directories for an address. */
export const addressChange = z
  .object({
    at: timestamp,
    did: z.enum(["added", "enabled", "disabled", "renamed"]).check(
      z.meta({
        description:
          "`renamed`: another owner or team. `disabled`: the person has left, or has the address no more",
      }),
    ),
  })
  .check(z.meta({ id: "AddressChange" }));
export type AddressChange = z.infer<typeof addressChange>;
