import * as table from "../../shared/table/table.ts";

type Sent = { request: { headers: Record<string, string>; body?: Uint8Array } };

/**
 * Runs `act` once, when the table's client is about to send a request that holds all these parts (of the operation's name
 * and the body), and sends it after that: what else happens between a worker's reads and its write. If `act` throws, the
 * request is not sent and fails with that. Whether it has run.
 */
export const beforeNext = (
  parts: readonly string[],
  act: () => Promise<unknown>,
): { hasRun: () => boolean } => {
  const { middlewareStack } = table.client();
  let hasRun = false;
  const wait = (next: (sent: Sent) => Promise<object>) => async (sent: Sent) => {
    const { headers, body } = sent.request;
    const text = `${headers["x-amz-target"]} ${new TextDecoder().decode(body)}`;
    if (!hasRun && parts.every((part) => text.includes(part))) {
      hasRun = true;
      middlewareStack.remove(wait as never);
      await act();
    }
    return next(sent);
  };
  middlewareStack.add(wait as never, { step: "finalizeRequest", priority: "low" });
  return { hasRun: () => hasRun };
};
