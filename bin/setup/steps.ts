/** What setup does, in order. Each step can be done again after it was interrupted at any point. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { commands } from "../admin/commands.ts";
import { connect, type Stack } from "../admin/connect.ts";
import { CommandError } from "../admin/error.ts";
import { runCommand } from "../admin/run-command.ts";
import { type Account, isBootstrapped } from "./account.ts";
import type { Answers, Flags } from "./answers.ts";
import { project, writeContext } from "./context.ts";
import { storedKey, storeKey } from "./hibp-key.ts";

/** `stack`: its name. `key`: undefined if one is stored already. */
export type Plan = {
  account: Account;
  answers: Answers;
  flags: Flags;
  stack: string;
  key: string | undefined;
};

type Say = (line: string) => void;
type Step = {
  title: string;
  done: () => Promise<boolean>;
  run: (say: Say) => Promise<void>;
};

/** Of steps that look for themselves whether anything remains to do. */
const never = async (): Promise<boolean> => false;

export const stepsOf = ({ account, answers, flags, stack: stackName, key }: Plan): Step[] => {
  const { organization: name, user: email, domain, alarmEmail, senderEmail } = answers;
  let connected: Promise<Stack> | undefined;
  const stack = (): Promise<Stack> => {
    connected ??= connect({ stack: stackName, port: undefined });
    return connected;
  };
  // biome-ignore lint/suspicious/noExplicitAny: every command has its own result
  const admin = async (command: string, given: Record<string, string> = {}): Promise<any> => {
    const known = commands[command];
    if (known === undefined) throw new Error(`There is no command ${command}`);
    return runCommand(command, known, given, await stack());
  };
  const findOrg = async (): Promise<string | undefined> => {
    const { organizations } = await admin("org list");
    return organizations.find((each: { name: string }) => each.name === name)?.id.toString();
  };
  const org = async (): Promise<string> => (await findOrg()) ?? "";
  const users = async (): Promise<{ id: number; email: string }[]> =>
    (await admin("user list", { org: await org() })).users;
  const findUser = async () => (await users()).find((each) => each.email === email);
  const findDomain = async (): Promise<{ id: number; verified: boolean } | undefined> =>
    (await admin("domain list", { org: await org() })).domains.find(
      (each: { name: string }) => each.name === domain,
    );

  const options = {
    ...(alarmEmail !== undefined && { alarmEmail }),
    ...(senderEmail !== undefined && { senderEmail }),
  };
  const source = flags.app === undefined ? ["--context", `stage=${flags.stage}`] : ["--app", flags.app];
  const inWords = Object.entries(options).map(([option, value]) => `${option}=${value}`);
  return [
    {
      title: `Bootstrap CDK in account ${account.id}, region ${account.region}`,
      done: async () => {
        await untilSettled("CDKToolkit");
        return isBootstrapped();
      },
      run: () => cdk("bootstrap", `aws://${account.id}/${account.region}`, ...source),
    },
    {
      title:
        "Deploy the stack " +
        `${stackName}${inWords.length === 0 ? "" : ` with ${inWords.join(" and ")}, which cdk.json keeps`}`,
      done: never,
      run: async () => {
        if (flags.app === undefined) writeContext(options);
        await untilSettled(stackName);
        await cdk("deploy", stackName, ...source, "--require-approval", "never");
      },
    },
    {
      title: "Store the API key of Have I Been Pwned",
      done: async () => {
        const stored = await storedKey(await stack());
        return stored !== undefined && (key === undefined || stored === key);
      },
      run: async () => storeKey(await stack(), key ?? ""),
    },
    {
      title: `Create the organization "${name}"`,
      // Without a user its creation may have been interrupted before its scans were scheduled.
      done: async () => (await findOrg()) !== undefined && (await users()).length > 0,
      run: async () => {
        const found = await findOrg();
        if (found === undefined) await admin("org create", { name });
        else await admin("scan schedule", { org: found, every: "day" });
      },
    },
    {
      title: `Create its user ${email}`,
      done: async () => (await findUser()) !== undefined,
      run: async () => admin("user create", { org: await org(), email, role: "admin" }),
    },
    ...(domain === undefined
      ? []
      : [
          {
            title: `Add its domain ${domain}, which you say is its own`,
            done: async () => (await findDomain())?.verified === true,
            run: async () => {
              const found = await findDomain();
              if (found === undefined)
                await admin("domain add", { org: await org(), name: domain, verified: "" });
              else await admin("domain verify", { org: await org(), domain: String(found.id) });
            },
          },
        ]),
    ...(flags["skip-test"]
      ? []
      : [
          {
            title: "Test the deployment, which takes up to ten minutes",
            done: never,
            run: async (say: Say) => {
              const { webhook, api } = flags;
              const given = { ...(webhook !== undefined && { webhook }), ...(api !== undefined && { api }) };
              const { checks, failed } = await admin("deployment test", given);
              say(`${checks.length} checks, ${failed} failed.`);
              if (failed > 0) process.exitCode = 1;
            },
          },
        ]),
    {
      title: `Make a link with which ${email} signs in`,
      done: never,
      run: async (say) => {
        const user = await findUser();
        const { url } = await admin("user sign-in-link", { org: await org(), user: String(user?.id) });
        if (alarmEmail !== undefined) say(`Confirm the subscription that AWS has sent to ${alarmEmail}.`);
        say(`Open within 15 minutes: ${url}`);
      },
    },
  ];
};

/** Waits while CloudFormation is at work on a stack, as it is after a deployment whose command was ended. */
const untilSettled = async (StackName: string): Promise<void> => {
  const client = new CloudFormationClient();
  for (;;) {
    const reply = await client.send(new DescribeStacksCommand({ StackName })).catch(() => undefined);
    const status = reply?.Stacks?.[0]?.StackStatus;
    // A change set that was never executed leaves a stack in review, with which CDK goes on.
    if (status === undefined || !status.endsWith("_IN_PROGRESS") || status === "REVIEW_IN_PROGRESS") return;
    await setTimeout(5_000);
  }
};

const cdk = async (...args: string[]): Promise<void> => {
  const script = join(project, "node_modules", "aws-cdk", "bin", "cdk");
  const child = spawn(process.execPath, [script, ...args, "--no-notices"], {
    cwd: project,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [status] = await once(child, "close");
  if (status !== 0)
    throw new CommandError(
      `"cdk ${args[0]}" failed, for the reason above. Remove the cause ` +
        "(docs/deploy.md#if-the-first-deployment-fails) and run setup again.",
    );
};
