import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { shownDirectory } from "../../shared/people/directory-schema.ts";

export const listDirectories = defineEndpoint({
  summary: "List connected directories",
  access: "user",
  reply: z.object({
    directories: z.array(shownDirectory),
    waitingForSeat: count.check(
      z.meta({ description: "Addresses of directories that are enabled once there are seats for them" }),
    ),
  }),
  uses: ["table:read"],
});
