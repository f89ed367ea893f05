/**
 * `npm run setup`: leads from an AWS account to a deployment that works, with an organization and a link
 * to sign in with. It checks the account, asks, says what it will do, and does it. Each step looks first
 * whether it is done, so that the command can be interrupted and run again. Exit status 1: an error,
 * told in one sentence on standard error, or a deployment that fails its test.
 */
import { connect } from "./admin/connect.ts";
import { CommandError } from "./admin/error.ts";
import { endProgress } from "./admin/progress.ts";
import { checkConcurrency, checkSender, findAccount } from "./setup/account.ts";
import { complete, readFlags, usage } from "./setup/answers.ts";
import { parseKey, storedKey } from "./setup/hibp-key.ts";
import { type Plan, stepsOf } from "./setup/steps.ts";
import { askHidden, askWhether, isTerminal, readInput, Terminated } from "./setup/terminal.ts";

const say = (line = ""): void => void process.stdout.write(`${line}\n`);

const setUp = async (args: string[]): Promise<void> => {
  // Programs that this one starts must not get it.
  const { HIBP_API_KEY: keyOfEnvironment } = process.env;
  delete process.env.HIBP_API_KEY;
  const flags = readFlags(args);
  if (flags === undefined) return say(usage.trimEnd());

  const account = await findAccount();
  say(`AWS account ${account.id}, region ${account.region}, as ${account.caller}`);
  for (const notice of await checkConcurrency(account)) say(notice);
  const answers = await complete(flags);
  if (answers.senderEmail !== undefined)
    for (const notice of await checkSender(answers.senderEmail)) say(notice);

  const stack = `breach-monitor-${flags.stage}`;
  const deployed = await connect({ stack, port: undefined }).catch(() => undefined);
  const needsKey = deployed === undefined || (await storedKey(deployed)) === undefined;
  const plan: Plan = { account, answers, flags, stack, key: await findKey(keyOfEnvironment, needsKey) };
  const steps = stepsOf(plan);

  say("\nThis will be done, apart from what is done already:");
  for (const [index, { title }] of steps.entries()) say(`  ${index + 1}. ${title}`);
  say("Permissions of the stack's roles are in docs/permissions.md. CDK does not ask about them again.");
  if (!flags.yes && !(await askWhether("Go on?"))) throw new CommandError("Nothing was done.");

  for (const [index, { title, done, run }] of steps.entries()) {
    const isDone = await done();
    say(`\n[${index + 1}/${steps.length}] ${title}${isDone ? ": done already" : ""}`);
    if (!isDone) await run(say);
  }
};

/** The key that is given, or asked for if none is stored yet. It is kept in memory alone. */
const findKey = async (given: string | undefined, isNeeded: boolean): Promise<string | undefined> => {
  if (given !== undefined) return parseKey(given);
  if (!isNeeded) return undefined;
  const question = "API key of Have I Been Pwned (not shown)";
  return parseKey(isTerminal() ? await askHidden(question, parseKey) : await readInput());
};

// Whoever reads the output may end first. Setup goes on.
process.stdout.on("error", () => undefined);
try {
  await setUp(process.argv.slice(2));
} catch (error) {
  const { message } = error as Error;
  process.stderr.write(error instanceof CommandError ? `${message}\n` : `Setup failed: ${message}\n`);
  process.exitCode = error instanceof Terminated ? 130 : 1;
} finally {
  endProgress();
}
