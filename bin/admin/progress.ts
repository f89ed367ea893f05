/** Shows how far a long command is, in one line of standard error if that is a terminal. */
const pauseMilliseconds = 100;

let shownAt = 0;

export const showProgress = (text: string): void => {
  if (!process.stderr.isTTY || Date.now() - shownAt < pauseMilliseconds) return;
  shownAt = Date.now();
  process.stderr.write(`\r\x1b[K${text}`);
};

export const endProgress = (): void => {
  if (shownAt > 0) process.stderr.write("\r\x1b[K");
  shownAt = 0;
};
