/**
 * An error that is shown without a stack trace. Its message is one sentence: the problem and what to do next.
 */
export class CommandError extends Error {}

/**
 * What an error of `parseArgs` says first, without a period. It has no codes, and its further sentences give
 * advice that does not apply here.
 */
export const wrongUsage = (error: unknown): string => {
  const { message } = error as Error;
  const [, ambiguous] = /^Option '(--[\w-]+).*' argument is ambiguous/.exec(message) ?? [];
  if (ambiguous !== undefined) return `A value that begins with a hyphen is given as ${ambiguous}=VALUE`;
  return message.split(/\. (?=To )|\.?\n|\.$/)[0] ?? "";
};
