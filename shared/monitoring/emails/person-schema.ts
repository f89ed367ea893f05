import * as z from "zod/mini";

const seldom = z.boolean().check(z.meta({ examples: [false] }));

/** What a directory says of the person behind an address; false where none does. */
export const ofPerson = {
  isPrivileged: seldom.check(z.meta({ description: "Whether a directory calls the account privileged" })),
  hasLeft: seldom.check(
    z.meta({ description: "Whether every directory that named the address says that the person is gone" }),
  ),
};
