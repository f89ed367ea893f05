import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { listedDirectory, scimUrl } from "../../shared/people/directory-schema.ts";

export const listDirectories = defineEndpoint({
  summary: "List connected directories",
  access: "user",
  reply: z.object({
    directories: z.array(
      z
        .object({ ...listedDirectory.shape, url: z.optional(scimUrl) })
        .check(z.meta({ id: "ShownDirectory" })),
    ),
  }),
  uses: ["table:read"],
});
