/** How a run ends: everything that it started is closed in reverse order, then the process exits. */

type Part = { close(): Promise<void> | void };

export type Lifetime = {
  /** Aborted when the run begins to end. */
  signal: AbortSignal;
  /**
   * Waits for a part to start and has it closed at the end. A part that starts while the run ends is closed
   * at once, and this rejects.
   */
  started<Started extends Part>(part: Started | Promise<Started>): Promise<Started>;
  /** Ends the run with this exit status. Does nothing if it is ending already. */
  stop(status: number): Promise<void>;
  /** Ends the run because of a failure, which is printed. */
  fail(reason: string): void;
};

const forceAfterMilliseconds = 5_000;

export const openLifetime = (): Lifetime => {
  const stopping = new AbortController();
  const parts: Part[] = [];

  const stop = async (status: number): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    setTimeout(() => process.exit(status), forceAfterMilliseconds).unref();
    for (const part of parts.reverse()) {
      try {
        await part.close();
      } catch (error) {
        console.error(`While ending: ${(error as Error).message}`);
      }
    }
    process.exit(status);
  };

  return {
    signal: stopping.signal,
    stop,
    fail: (reason) => {
      console.error(reason);
      void stop(1);
    },
    started: async (starting) => {
      const part = await starting;
      if (stopping.signal.aborted) {
        await part.close();
        stopping.signal.throwIfAborted();
      }
      parts.push(part);
      return part;
    },
  };
};
