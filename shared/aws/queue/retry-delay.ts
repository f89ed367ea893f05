/** The longest delay after the first receive, which doubles with each further one. */
const firstDelaySeconds = 60;
const longestDelaySeconds = 600;

/**
 * How long a message stays hidden after a worker has failed at it: 30 to 60 seconds after its first receive,
 * and 5 to 10 minutes in the end. Random, so that messages that failed together do not return together.
 */
export const retryDelaySeconds = (receives: number): number => {
  const longest = Math.min(longestDelaySeconds, firstDelaySeconds * 2 ** (receives - 1));
  return Math.round((longest * (1 + Math.random())) / 2);
};
