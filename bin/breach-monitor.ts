/**
 * The infrastructure as an AWS CDK app: one stack per stage.
 *
 * Context (`cdk deploy -c name=value`):
 * - `stage`: which stage, default "production". Several can live in one account; the stack is `breach-monitor-<stage>`.
 * - `alarmEmail`: an address that alarms are sent to. Without it alarms exist but notify nobody.
 * - `senderEmail`: the address that e-mail alerts come from. SES has to have verified it or its domain. Without it no e-mail
 *   is sent, and deliveries of e-mail channels fail.
 * - `tableName`: an existing table to use instead of making one (README "Restore").
 *
 * Also runs without the CDK command line; the assembly then goes to CDK_OUTDIR, or else to cdk.out.
 */
import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { bundleFunctions } from "../lib/bundle.ts";
import { ServiceStack } from "../lib/service-stack.ts";

const app = new App({
  outdir: process.env.CDK_OUTDIR ?? "cdk.out",
  // Not in cdk.json: a run without the command line must give the same template.
  analyticsReporting: false,
  context: { "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

const stage: string = app.node.tryGetContext("stage") ?? "production";
if (!/^[a-z][a-z0-9-]{0,27}$/.test(stage)) {
  throw new Error("A stage is 1 to 28 lower-case letters, digits and hyphens, and starts with a letter");
}

const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
new ServiceStack(app, `breach-monitor-${stage}`, {
  description: `Breach monitoring service, stage ${stage}`,
  bundles: await bundleFunctions(join(app.outdir, "bundles")),
  alarmEmail: app.node.tryGetContext("alarmEmail"),
  senderEmail: app.node.tryGetContext("senderEmail"),
  tableName: app.node.tryGetContext("tableName"),
  env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
});

app.synth();
