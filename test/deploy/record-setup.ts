/**
 * Prints what `npm run setup` says and when, from an empty account of MiniStack to the link and once more with the deployment's test, without
 * the lines of CDK: `node test/deploy/record-setup.ts <ministack executable>`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { Deployment } from "./deployment.ts";
import { startMinistack } from "./ministack.ts";

const [executable] = process.argv.slice(2);
if (executable === undefined)
  throw new Error("Usage: node test/deploy/record-setup.ts <ministack executable>");

const ownLines =
  /^(AWS account|Note|This will|Permissions|Confirm|Open within| {2}\d+\. |\[\d+\/|\d+ checks|(ok|failed|skipped) +)/;
const directory = mkdtempSync(join(tmpdir(), "breach-monitor-setup-"));
const hibp = await startHibpServer();
const receiver = await startReceiver({ respond: (_, response) => response.writeHead(204).end() });
const ministack = await startMinistack(executable, directory, {
  HIBP_BASE_URL: hibp.url,
  OUTBOUND_ALLOWED_ORIGINS: receiver.origin,
});
Object.assign(process.env, ministack.variables);
const deployment = new Deployment(ministack, "production");
const began = Date.now();
let rest = "";
const watch = (chunk: string): void => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  const seconds = String(Math.round((Date.now() - began) / 1000)).padStart(4);
  for (const line of lines)
    if (ownLines.test(line)) console.log(`${seconds} s  ${line.replace(/#.*/, "#…")}`);
};
const run = async (...args: string[]): Promise<void> => {
  console.log(`\n$ npm run setup -- ${args.join(" ")}`);
  await deployment.setup(undefined, { args, key: "0123456789abcdef".repeat(2), watch });
};

try {
  const answers = ["--yes", "--organization", "Acme", "--user", "you@acme.com", "--domain", "acme.com"];
  // The API of an emulation is not at the url of the stack's output.
  await run(...answers, "--skip-test");
  await deployment.readOutputs();
  await run(...answers, "--webhook", `${receiver.origin}/hook`, "--api", deployment.baseUrl);
} finally {
  ministack.end();
  await Promise.all([hibp.close(), receiver.close()]);
  rmSync(directory, { recursive: true, force: true });
}
