/** What is wrong, and what to do next, in one sentence for the person at the command line. */
export class CommandError extends Error {}
