/** What programs refuse before they do anything. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test.each(["alarmEmial", "alarm-email"])("an option %s of a deployment is not taken for none", (option) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "..", "..", "bin", "breach-monitor.ts")],
    {
      env: { PATH: process.env.PATH, CDK_CONTEXT_JSON: `{"${option}": "ops@acme.com"}` },
      encoding: "utf8",
    },
  );
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `There is no option "${option}". What can be chosen is in docs/deploy.md#context-options.\n`,
  });
});
