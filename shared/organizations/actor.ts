/**
 * Who does something: a user of the dashboard, an API key (a key acts as its organization, interface.md
 * "Authentication" 3), or the service itself. `label` is what people see: a user's address, a key's label.
 */
export type Actor =
  | { type: "user"; id: number; label: string }
  | { type: "api_key"; id: number; label: string }
  | { type: "system"; id: null; label: string };

/** What the service does by itself. */
export const service: Actor = { type: "system", id: null, label: "Breach Monitor" };

/** What the admin command does (decisions.md "Smaller points"). */
export const administrator: Actor = { type: "system", id: null, label: "Administrator" };
