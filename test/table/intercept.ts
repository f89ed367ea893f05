import { documents, wire } from "../../shared/table/table.ts";

type Next<Sent> = (sent: Sent) => Promise<{ output: object }>;
type Context = { commandName?: string };

/** What the SDK gives steps before an input is serialized; values are as on the wire in reads only. */
export type Command = { input: Record<string, unknown> };
/** What it gives them after that. */
export type Request = { request: { headers: Record<string, string>; body?: Uint8Array } };

let interceptions = 0;
let active = 0;

/**
 * Puts a step of a test's own around everything that this process sends to the table; the function that takes it away.
 * "initialize": around a command; "build": around all tries of its request; "finalizeRequest": around each try.
 */
export const intercept = <Sent extends Command | Request>(
  step: Sent extends Command ? "initialize" : "build" | "finalizeRequest",
  middleware: (next: Next<Sent>, context: Context) => Next<Sent>,
): (() => void) => {
  // Steps that are put together once would leave this one out.
  wire().config.cacheMiddleware = false;
  active++;
  const name = `intercept-${++interceptions}`;
  const stacks = [wire().middlewareStack, documents().middlewareStack];
  const priority = step === "initialize" ? "normal" : "low";
  for (const stack of stacks) stack.add(middleware as never, { name, step: step as "build", priority });
  return () => {
    for (const stack of stacks) stack.remove(name);
    wire().config.cacheMiddleware = --active === 0;
  };
};
