import { countedList } from "../../shared/table/counted-list.ts";

/** A list for tests: e-mails that belong to a team and are active or disabled. */
export type Facet = { team: number; isActive: boolean };
export const emails = countedList<Facet, { email: string }>("EMAIL", {
  team: "integer",
  isActive: "boolean",
});

export const active: Facet = { team: 1, isActive: true };
export const disabled: Facet = { team: 1, isActive: false };
