import { wire } from "../../../shared/aws/table/clients.ts";

type Next<Sent> = (sent: Sent) => Promise<{ output: object }>;
type Context = { commandName?: string };

/** What middleware gets before the input is serialized. Only in reads are values as on the wire. */
export type Command = { input: Record<string, unknown> };
/** What middleware gets after the input was serialized. */
export type Request = { request: { headers: Record<string, string>; body?: Uint8Array } };

let interceptions = 0;

/**
 * Adds middleware around everything that this process sends to the table, and returns the function that
 * removes it.
 */
export const intercept = <Sent extends Command | Request>(
  step: Sent extends Command ? "initialize" : "finalizeRequest",
  middleware: (next: Next<Sent>, context: Context) => Next<Sent>,
): (() => void) => {
  const name = `intercept-${++interceptions}`;
  const priority = step === "initialize" ? "normal" : "low";
  // The document client has the same middleware.
  const { middlewareStack } = wire();
  middlewareStack.add(middleware as never, { name, step: step as "finalizeRequest", priority });
  return () => {
    middlewareStack.remove(name);
  };
};
