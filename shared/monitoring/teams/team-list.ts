/** Teams with how many e-mails are in each. */
import { pageOf } from "../../lists/short-list.ts";
import { emails } from "../emails/record.ts";
import * as teams from "./team.ts";

/** A page, newest first; e-mails that are disabled count too. */
export const list = async (
  org: number,
  page: { limit: number; offset: number },
): Promise<{ teams: { id: number; name: string; emailCount: number }[]; total: number }> => {
  const [all, directory] = await Promise.all([teams.list(org), emails.directory(org)]);
  const { items, total } = pageOf(all, page);
  const emailCount = (id: number) => emails.sum(directory, (group) => group.teamId === id);
  return { teams: items.map(({ id, name }) => ({ id, name, emailCount: emailCount(id) })), total };
};
