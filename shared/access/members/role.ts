import type { Role } from "../organizations/organization-schema.ts";

/** Users from before there were roles are admins. */
export const roleOf = ({ role }: { role?: Role }): Role => role ?? "admin";
