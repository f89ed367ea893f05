import type { Client } from "../service/client.ts";

export type Entry = {
  category: string;
  action: string;
  summary: string;
  actor: { type: string; label: string };
};

/** The last 100 entries of the activity log with an action, newest first. */
export const activity = async (v1: Client, action: string): Promise<Entry[]> => {
  const { body } = await v1.get("/activity?limit=100");
  return (body.activity as Entry[]).filter((entry) => entry.action === action);
};
