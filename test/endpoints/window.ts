import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";

type WindowSeconds = 60 | 3600;

/** The window's name, which is when it begins: the current one's, or that of one of the next. */
const windowAt = (seconds: WindowSeconds, later = 0): string =>
  String((Math.floor(Date.now() / 1000 / seconds) + later) * seconds);

/** What a limit counts requests of; limits.ts names them so. */
export const subjects = {
  address: (address: string): string => `ADDRESS#${address}`,
  key: (hash: string): string => `KEY#${hash}`,
  organization: (org: number, limit: string): string => `ORG#${org}#${limit}`,
};

/** As if so many requests had been counted: in this window, and in the next, which may begin before the test's requests. */
export const countBefore = async (
  subject: string,
  requests: number,
  seconds: WindowSeconds,
): Promise<void> => {
  for (const later of [0, 1]) {
    await table.update(keys.limit(subject, windowAt(seconds, later)), { add: { requests } });
  }
};

/** Acts again, from the beginning and with what is fresh, when another window, aligned to the UTC minute or hour, began meanwhile. */
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
