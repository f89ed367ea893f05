import { intercept, type Request } from "../../aws/table/intercept.ts";

class Killed extends Error {}

/** Runs `act` and lets the table get no request after the one of this number; gives how many it sent. */
export const killedAt = async (
  number: number,
  when: "before" | "after",
  act: () => Promise<unknown>,
): Promise<number> => {
  let sent = 0;
  // "build" is around the SDK's own retries, which would otherwise go on after the end.
  const stop = intercept<Request>("build", (next) => async (request) => {
    sent++;
    if (sent > number || (sent === number && when === "before")) throw new Killed();
    const reply = await next(request);
    if (sent >= number) throw new Killed();
    return reply;
  });
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  } finally {
    stop();
  }
  return sent;
};
