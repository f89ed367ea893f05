import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";

type WindowSeconds = 60 | 3600 | 86_400;

/**
 * The name of a window, which is its start in seconds since the epoch; `later`: how many windows after this
 * one.
 */
const windowAt = (seconds: WindowSeconds, later = 0): string =>
  String((Math.floor(Date.now() / 1000 / seconds) + later) * seconds);

/** The subjects for which requests are counted, named as in shared/access/api/limits.ts. */
export const subjects = {
  address: (address: string): string => `ADDRESS#${address}`,
  key: (hash: string): string => `KEY#${hash}`,
  user: (org: number, user: number): string => `USER#${org}#${user}`,
  organization: (org: number, limit: string): string => `ORG#${org}#${limit}`,
};

/**
 * Counts requests in advance, as if they had been sent. They count in the next window too, since it may begin
 * before the test sends its requests. `endpoint`: those that a user sent to it, such as "GET /v1/emails".
 */
export const presetCount = async (
  subject: string,
  requests: number,
  seconds: WindowSeconds,
  endpoint?: string,
): Promise<void> => {
  for (const later of [0, 1]) {
    const add = { requests, ...(endpoint !== undefined && { [endpoint]: requests }) };
    await table.update(keys.limit(subject, windowAt(seconds, later)), { add });
  }
};

/**
 * Repeats `act` until it ran within one window, which starts at a full UTC minute or hour. `act` must create
 * what it uses, so that each run starts anew.
 */
export const inOneWindow = async (seconds: WindowSeconds, act: () => Promise<void>): Promise<void> => {
  for (;;) {
    const window = windowAt(seconds);
    const error = await act().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    if (windowAt(seconds) !== window) continue;
    if (error !== undefined) throw error;
    return;
  }
};
