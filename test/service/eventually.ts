/**
 * Calls `read` until its value satisfies `isDone`, and gives that value. Pauses grow, so that a minute of
 * polling stays below the request limit of an API key. Throws after `seconds` with the last value.
 */
export const eventually = async <T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  seconds = 150,
): Promise<T> => {
  const deadline = Date.now() + seconds * 1000;
  for (let pause = 200; ; pause = Math.min(pause * 2, 2_000)) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not there in ${seconds} s; last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};
