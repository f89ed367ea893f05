import * as operatorLog from "../../shared/access/operators/log.ts";
import type { Command, Flags } from "./command.ts";
import type { Stack } from "./connect.ts";
import { findOperator } from "./operator.ts";

/** Flags of every command, which say how to run it and not what to do. */
const generalFlags = ["json", "port", "stack"];

/** Runs a command; if it is an act, the operators' log says so first. */
export const runCommand = async (
  name: string,
  { isAct = false, privateFlags = [], run, flags: kinds }: Command,
  flags: Flags,
  stack: Stack,
): Promise<Record<string, unknown>> => {
  if (!(typeof isAct === "function" ? isAct(flags) : isAct)) return run(flags, stack);
  const given = Object.entries(flags)
    .filter(([flag]) => !generalFlags.includes(flag))
    .map(([flag, value]) => {
      if (kinds[flag] === "switch") return `--${flag}`;
      return `--${flag} ${privateFlags.includes(flag) ? "…" : value}`;
    });
  const org = Number(flags.org);
  await operatorLog.add({
    operator: await findOperator(stack),
    command: name,
    flags: given.join(" "),
    ...(Number.isSafeInteger(org) && org > 0 && { organizationId: org }),
  });
  return run(flags, stack);
};
