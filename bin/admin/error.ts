/**
 * An error that is shown without a stack trace. Its message is one sentence that says what is wrong and what
 * to do next.
 */
export class CommandError extends Error {}
