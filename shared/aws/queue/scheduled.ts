import type { Context } from "aws-lambda";
import { requireKnown, versionAttribute } from "../../contract/version.ts";
import { withTimeOf } from "../table/patience.ts";
import { type Invocation, invocationOf } from "./consume.ts";

/**
 * Makes the Lambda handler of a worker that a schedule invokes. An error is logged and fails the invocation.
 */
export const scheduled =
  <Input>(run: (input: Input, invocation: Invocation) => Promise<void>) =>
  async (input: Input, context: Context): Promise<void> => {
    const invocation = invocationOf(context);
    try {
      // Schedules of organizations were made by this release or by any other; those of the stack have no version.
      requireKnown("message", (input as { [versionAttribute]?: unknown } | undefined)?.[versionAttribute]);
      await withTimeOf(context.getRemainingTimeInMillis(), () => run(input, invocation));
    } catch (error) {
      invocation.logger.error("scheduled work failed", { error: error as Error });
      throw error;
    }
  };
