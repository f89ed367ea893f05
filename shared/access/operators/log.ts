/** What operators asked for with the admin command line: one row for each act. */
import { randomBytes } from "node:crypto";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

type OperatorEntry = {
  /** ISO 8601. */
  at: string;
  /** The ARN of an AWS identity, or the local user. */
  operator: string;
  /** Such as "user create". */
  command: string;
  /** The flags as they were given, such as "--org 2 --force". No flag holds a secret. */
  flags: string;
  /** The organization that the act was on; absent for acts on none. */
  organizationId?: number;
};

/** Logs an act before it begins, so that no act is done without an entry. An act that is refused has an entry too. */
export const add = (entry: Omit<OperatorEntry, "at">): Promise<void> => {
  const at = new Date().toISOString();
  // Random, because two operators may act in one millisecond.
  return table.put({ ...keys.operatorEntry(at, randomBytes(6).toString("hex")), at, ...entry });
};

/** Entries, newest first, before the time `before`; of one organization if `organizationId` is given. */
export const list = async ({
  organizationId,
  before,
  limit,
}: {
  organizationId?: number | undefined;
  before?: string | undefined;
  limit: number;
}): Promise<OperatorEntry[]> => {
  const { pk } = keys.operatorEntry("", "");
  const listed: OperatorEntry[] = [];
  const pages = table.queryPages<OperatorEntry & Key>({
    pk,
    descending: true,
    ...(before !== undefined && { to: keys.operatorEntry(before, "").sk }),
  });
  for await (const page of pages) {
    for (const { pk: _, sk: __, ...entry } of page) {
      if (organizationId !== undefined && entry.organizationId !== organizationId) continue;
      listed.push(entry);
      if (listed.length === limit) return listed;
    }
  }
  return listed;
};
