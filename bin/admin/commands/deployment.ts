import * as organizations from "../../../shared/access/organizations/organization.ts";
import type { Commands, Flags } from "../command.ts";
import type { Stack } from "../connect.ts";
import { type Check, checks, mailbox, Skipped, testDomain } from "../deployment/checks.ts";
import { eventually, type Trial } from "../deployment/trial.ts";
import { CommandError } from "../error.ts";
import { expectUrl } from "../flags.ts";
import { shown } from "../print.ts";
import { domainCommands } from "./domain.ts";
import { keyCommands } from "./key.ts";
import { orgCommands } from "./org.ts";
import { sessionCommands } from "./session.ts";
import { userCommands } from "./user.ts";

type Line = { check: string; result: "ok" | "failed" | "skipped"; says?: string; advice?: string };
type Report = { organizationId: number; failed: number; checks: Line[] };

const name = "Deployment test";
const usedCommands: Commands = {
  ...orgCommands,
  ...domainCommands,
  ...userCommands,
  ...sessionCommands,
  ...keyCommands,
};
// biome-ignore lint/suspicious/noExplicitAny: every command has its own result
const act = (stack: Stack, command: string, flags: Flags): Promise<any> | undefined =>
  usedCommands[command]?.run(flags, stack);

export const deploymentCommands: Commands = {
  "deployment test": {
    about:
      "Tests a deployment with an organization of its own, which it deletes again, in about ten " +
      "minutes; exits 1 when a check fails. --webhook receives alerts; --api is the base of the " +
      "API if clients do not use that of the output ApiUrl.",
    flags: { webhook: "optional URL", api: "optional URL" },
    privateFlags: ["webhook"],
    isAct: true,
    run: async (flags, stack): Promise<Report> => {
      for (const flag of ["webhook", "api"]) expectUrl(flag, flags[flag]);
      const ending = new AbortController();
      const end = (): void => ending.abort(new Error("the command was ended"));
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
      const lines: Line[] = [];
      const see = async (some: readonly Check[], trial: Trial): Promise<void> => {
        if (ending.signal.aborted) return;
        for (const made of some.map((check) => lineOf(check, trial))) {
          const line = await made;
          if (ending.signal.aborted) return;
          lines.push(line);
          if (flags.json === undefined) process.stdout.write(textOf(line));
        }
      };
      const { id } = await act(stack, "org create", { name, "scan-every": "never" });
      const trial = begin(id, flags, stack, ending.signal);
      try {
        for (const some of checks) await see(some, await trial);
      } finally {
        await act(stack, "org delete", { org: String(id), name })?.catch((error: Error) => {
          throw new CommandError(
            `The organization of this test could not be deleted (${error.message}): run org ` +
              `delete --org ${id} --name "${name}".`,
          );
        });
      }
      await see([sweepCheck], await trial);
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, end);
      if (ending.signal.aborted)
        throw new CommandError(`The test was ended. Its organization ${id} is being deleted.`);
      const failed = lines.filter(({ result }) => result === "failed").length;
      return { organizationId: id, failed, checks: lines };
    },
    print: ({ organizationId, failed, checks: { length } }: Report) =>
      `${length} checks, ${failed} failed. Organization ${organizationId} of this test is being deleted.\n`,
    isWrong: ({ failed }: Report) => failed > 0,
  },
};

const sweepCheck: Check = {
  name: "the sweep deletes the organization, after five minutes",
  run: ({ org, signal }) =>
    eventually(signal, 420, async () => {
      const organization = await organizations.get(org);
      if (organization === undefined || organization.deletingSince !== undefined) return undefined;
      throw new Error("it has not seen the deletion");
    }),
  advice: "Look at the log of sweep, and at its schedule in EventBridge Scheduler.",
};

const begin = async (id: number, flags: Flags, stack: Stack, signal: AbortSignal): Promise<Trial> => {
  const org = String(id);
  const user = await act(stack, "user create", { org, email: mailbox("user"), role: "admin" });
  const domain = await act(stack, "domain add", { org, name: testDomain, verified: "", force: "" });
  const { key } = await act(stack, "key create", { org, label: name });
  const { cookie } = await act(stack, "session create", { org, user: String(user.id) });
  const base = flags.api ?? String(stack.outputs.ApiUrl).replace(/\/v1$/, "");
  // Nobody but this API is sure to answer. It refuses each post.
  const own = base.startsWith("https:") ? { url: `${base}/v1/deployment-test`, refuses: true } : undefined;
  return {
    stack,
    signal,
    base,
    org: id,
    domainId: domain.id,
    credentials: {
      v1: { authorization: `Bearer ${key}` },
      dashboard: { cookie, "sec-fetch-site": "same-origin" },
    },
    webhook: flags.webhook === undefined ? own : { url: flags.webhook, refuses: false },
    replies: {},
  };
};

const lineOf = async ({ name: check, run, advice }: Check, trial: Trial): Promise<Line> => {
  try {
    const says = await run(trial);
    return { check, result: "ok", ...(says !== undefined && { says }) };
  } catch (error) {
    const says = (error as Error).message;
    return {
      check,
      says,
      ...(error instanceof Skipped ? { result: "skipped" } : { result: "failed", advice }),
    };
  }
};

const textOf = ({ check, result, says, advice }: Line): string =>
  [
    `${result.padEnd(8)}${check}${says === undefined ? "" : `: ${shown(says)}`}`,
    ...(advice === undefined ? [] : [`        ${advice}`]),
    "",
  ].join("\n");
