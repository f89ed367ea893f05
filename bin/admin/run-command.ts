import * as operatorLog from "../../shared/access/operators/log.ts";
import type { Command, Flags } from "./command.ts";
import type { Stack } from "./connect.ts";
import { findOperator } from "./operator.ts";

/** Flags of every command, which say how to run it and not what to do. */
const generalFlags = ["json", "port", "stack"];

/** Runs a command; if it is an act, what it writes is in the operators' log. */
export const runCommand = async (
  name: string,
  { isAct = false, isLongAct = () => false, privateFlags = [], run, flags: kinds }: Command,
  flags: Flags,
  stack: Stack,
): Promise<Record<string, unknown>> => {
  const isLong = isLongAct(flags);
  if (!isAct && !isLong) return run(flags, stack, []);
  const given = Object.entries(flags)
    .filter(([flag]) => !generalFlags.includes(flag))
    .map(([flag, value]) => {
      if (kinds[flag] === "switch") return `--${flag}`;
      return `--${flag} ${privateFlags.includes(flag) ? "…" : value}`;
    });
  const org = Number(flags.org);
  const entry = {
    operator: await findOperator(stack),
    command: name,
    flags: given.join(" "),
    ...(Number.isSafeInteger(org) && org > 0 && { organizationId: org }),
  };
  if (isAct) return run(flags, stack, [operatorLog.entryWrite(entry)]);
  await operatorLog.logBefore(entry);
  return run(flags, stack, []);
};
