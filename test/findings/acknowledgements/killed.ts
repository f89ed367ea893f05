import { intercept, type Request } from "../../aws/table/intercept.ts";

class Killed extends Error {}

/**
 * Runs `act` and kills it once the table has done this number of requests. Gives how many requests it sent.
 * For the table, a death before a request is a death after the request before it.
 */
export const killedAfter = async (number: number, act: () => Promise<unknown>): Promise<number> => {
  let sent = 0;
  const stop = intercept<Request>("finalizeRequest", (next) => async (request) => {
    sent++;
    if (sent > number) throw new Killed();
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
