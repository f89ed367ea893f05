/**
 * Who does something: a user of the dashboard, an API key (which acts for its organization, not for a user),
 * or the service. `label` is what people see: the user's address, the key's label.
 */
export type Actor =
  | { type: "user"; id: number; label: string }
  | { type: "api_key"; id: number; label: string }
  | { type: "system"; id: null; label: string };

/** The actor of what the service does by itself. */
export const service: Actor = { type: "system", id: null, label: "Breach Monitor" };

/** The actor of what the admin command does. */
export const administrator: Actor = { type: "system", id: null, label: "Administrator" };
