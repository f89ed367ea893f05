import type { Use } from "../../shared/contract/endpoint.ts";

/**
 * The function of SCIM 2.0: of all its paths and methods, since one protocol says how they answer. Without the
 * authorizer, whose refusals have another form.
 */
export const scim: { uses: readonly Use[]; timeoutSeconds: number } = {
  uses: ["table:read", "table:write", "table:directory-use", "queue:directory-changes"],
  timeoutSeconds: 30,
};
