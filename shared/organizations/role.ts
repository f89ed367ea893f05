import type { Role } from "./schema.ts";

/** Users from before there were roles are admins. */
export const roleOf = ({ role }: { role?: Role }): Role => role ?? "admin";
