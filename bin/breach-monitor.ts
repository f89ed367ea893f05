/**
 * The infrastructure as an AWS CDK app with one stack for each stage.
 *
 * Context (`cdk deploy -c name=value`): the options of lib/options.ts, and `stage`, default "production". The
 * stack of a stage is `breach-monitor-<stage>`; an account can hold several.
 *
 * It also runs without the CDK command line. The assembly then goes to CDK_OUTDIR, by default cdk.out.
 */
import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { bundleFunctions } from "../lib/bundle.ts";
import { InvalidOption, readOptions, stageName } from "../lib/options.ts";
import { ServiceStack } from "../lib/service-stack.ts";

const app = new App({
  outdir: process.env.CDK_OUTDIR ?? "cdk.out",
  // Here and not in cdk.json, so that a run without the CDK command line gives the same template.
  analyticsReporting: false,
  context: { "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

const synthesize = async (): Promise<void> => {
  const names = ["stage", ...Object.keys(readOptions(() => undefined))];
  // CDK's own values have other characters in their names. A misspelt option, or a flag of setup, would
  // silently remove the resources of the right one.
  const flags = names.map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
  const unknown = Object.keys(app.node.getAllContext()).find(
    (name) => (/^\w+$/.test(name) || flags.includes(name)) && !names.includes(name),
  );
  if (unknown !== undefined) throw new InvalidOption(`There is no option "${unknown}"`);
  const stage: string = app.node.tryGetContext("stage") ?? "production";
  const problem = stageName.safeParse(stage).error?.issues[0]?.message;
  if (problem !== undefined) throw new InvalidOption(`The stage ${problem}, not "${stage}"`);

  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
  new ServiceStack(app, `breach-monitor-${stage}`, {
    description: `Breach monitoring service, stage ${stage}`,
    service: {
      ...readOptions((name) => app.node.tryGetContext(name)),
      bundles: await bundleFunctions(join(app.outdir, "bundles")),
    },
    env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
  });

  app.synth();
};

await synthesize().catch((error: Error) => {
  if (!(error instanceof InvalidOption)) throw error;
  console.error(`${error.message}. What can be chosen is in docs/deploy.md#context-options.`);
  process.exitCode = 1;
});
