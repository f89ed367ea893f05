import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { inject } from "vitest";
import { readOptions } from "../../lib/options.ts";
import { ServiceStack } from "../../lib/service-stack.ts";

/**
 * Synthesizes the stack with other options (the values of `cdk deploy -c`), and gives the path of its
 * assembly. The functions have the bundles of the shared service, which options do not change: making them
 * again takes most of the time.
 */
export const synthesizeWith = (context: Readonly<Record<string, string>>): string => {
  const { TRANSACTION_KEYS: seen } = process.env;
  const given: typeof context = { ...(seen === "none" && { keyGuards: "false" }), ...context };
  const outdir = mkdtempSync(join(tmpdir(), "assembly-"));
  const bundles = join(inject("assembly"), "bundles");
  const app = new App({ outdir, builtinCloudFormationValidation: false });
  new ServiceStack(app, "breach-monitor-production", {
    service: {
      ...readOptions((name) => given[name]),
      bundles: (folder) => Code.fromAsset(join(bundles, folder)),
    },
  });
  app.synth();
  return outdir;
};
