import { type Event, event } from "../events.ts";

/**
 * The JSON text that one attempt signs and sends. `id` is the delivery's id, equal in every attempt; `at` is
 * the time of this attempt. Fields that the schema does not name are dropped. Throws a ZodError when the data
 * does not match the type.
 */
export const envelope = ({ id, at, ...rest }: Event & { id: number; at: Date }): string => {
  const { type, data } = event.parse(rest);
  return JSON.stringify({ id, type, timestamp: at.toISOString(), data });
};
