import { administrator } from "../../../shared/access/activity/actor.ts";
import { emailAddress } from "../../../shared/monitoring/emails/email-schema.ts";
import { erase, type Trace } from "../../../shared/operations/personal-data/erase.ts";
import type { Commands } from "../command.ts";
import { parse } from "../flags.ts";
import { showProgress } from "../progress.ts";

export const eraseCommand: Commands = {
  erase: {
    about:
      "Erases an e-mail address from every row of every organization, and says what was where; " +
      "--dry-run only says it. It reads the whole table.",
    flags: { email: "required ADDRESS", "dry-run": "switch" },
    isAct: (flags) => flags["dry-run"] === undefined,
    privateFlags: ["email"],
    run: async (flags) => {
      const address = parse("email", emailAddress, flags.email);
      const dryRun = flags["dry-run"] !== undefined;
      const progress = (rows: number): void => showProgress(`${rows} rows read`);
      const traces = await erase(address, { dryRun, actor: administrator, progress });
      return { traces: summed(traces) };
    },
  },
};

/** How many rows of each kind and organization there were, and what became of them. */
const summed = (traces: readonly Trace[]) =>
  [
    ...Map.groupBy(traces, ({ organizationId, kind, outcome }) =>
      JSON.stringify([organizationId, kind, outcome]),
    ),
  ]
    .map(([key, same]) => {
      const [organizationId, kind, outcome] = JSON.parse(key) as [number | null, string, string];
      return { organizationId, kind, outcome, rows: same.length };
    })
    .sort((one, other) => (one.organizationId ?? 0) - (other.organizationId ?? 0));
