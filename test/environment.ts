import { shortTimeouts, timeouts } from "../shared/aws/timeouts.ts";

/**
 * Gives the process these variables and no others. The object `process.env` stays, because others keep a
 * reference to it.
 */
export const resetEnvironment = (environment: NodeJS.ProcessEnv): void => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
};

/**
 * Gives the product's clients in a test's process more time. Functions give up after seconds. This process
 * stands still for as long while it loads modules on a busy machine.
 */
export const waitLongForReplies = (): void => {
  for (const each of [timeouts, shortTimeouts]) {
    Object.assign(each, { connectionTimeout: 30_000, requestTimeout: 60_000 });
  }
};
