import * as operatorLog from "../../../shared/access/operators/log.ts";
import type { Commands } from "../command.ts";
import { parseId, parsePage, parseTime } from "../flags.ts";
import { pick, printPage } from "../print.ts";

export const operatorLogCommands: Commands = {
  "operator-log list": {
    about:
      "Lists what operators did with this command line, newest first, 100 unless --limit says " +
      "otherwise (1000 at most).",
    flags: { org: "optional ID", before: "optional 2030-01-31T00:00:00Z", limit: "optional N" },
    run: async (flags) => {
      const { limit } = parsePage(flags);
      const entries = await operatorLog.list({
        organizationId: flags.org === undefined ? undefined : parseId("org", flags),
        before: flags.before === undefined ? undefined : parseTime("before", flags.before),
        limit: limit + 1,
      });
      const shown = entries.slice(0, limit).map((entry) => pick(entry, "at", "operator", "command", "flags"));
      const last = entries[limit - 1];
      return { entries: shown, ...(entries.length > limit && last && { nextBefore: last.at }) };
    },
    print: printPage,
  },
};
