/**
 * The infrastructure as an AWS CDK app with one stack for each stage.
 *
 * Context (`cdk deploy -c name=value`):
 * - `stage`: the stage, default "production". Its stack is `breach-monitor-<stage>`; an account can hold
 *   several.
 * - `alarmEmail`: the address that alarms are sent to. Without it alarms exist but notify nobody.
 * - `senderEmail`: the address that e-mail alerts come from. SES must have verified it or its domain.
 *   Without it no e-mail is sent, and deliveries of e-mail channels fail.
 * - `alarms`, `maximumConcurrency`, `hibpApiKey`, `hibpContact`, `requestsPerSecond`, `monthlyBudgetDollars`, `webAcl`, `tableEncryption`, `keyGuards`, `gatewayContextHeaders`, `confirmRecipients`, `trustedProxySecret`, `oidcIssuer`, `oidcClientId`, `oidcName`, `oidcEmailClaim`, `oidcJoin`: lib/options.ts.
 * - `domainName` and `certificateArn`: a name of the deployment's own, and the ARN of a certificate for it in
 *   the stack's region.
 * - `tableName`: an existing table to use instead of creating one (docs/restore.md).
 *
 * It also runs without the CDK command line. The assembly then goes to CDK_OUTDIR, by default cdk.out.
 */
import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { readDomain } from "../lib/api-domain.ts";
import { bundleFunctions } from "../lib/bundle.ts";
import { readOptions } from "../lib/options.ts";
import { ServiceStack } from "../lib/service-stack.ts";

const app = new App({
  outdir: process.env.CDK_OUTDIR ?? "cdk.out",
  // Here and not in cdk.json, so that a run without the CDK command line gives the same template.
  analyticsReporting: false,
  context: { "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

const stage: string = app.node.tryGetContext("stage") ?? "production";
// With the longest name of a function this is the 64 characters that Lambda takes.
if (!/^[a-z][a-z0-9-]{0,26}$/.test(stage)) {
  throw new Error(
    `The stage must be 1 to 27 lower-case letters, digits and hyphens and start with a letter, not "${stage}"`,
  );
}

const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
new ServiceStack(app, `breach-monitor-${stage}`, {
  description: `Breach monitoring service, stage ${stage}`,
  bundles: await bundleFunctions(join(app.outdir, "bundles")),
  options: readOptions((name) => app.node.tryGetContext(name)),
  alarmEmail: app.node.tryGetContext("alarmEmail"),
  senderEmail: app.node.tryGetContext("senderEmail"),
  domain: readDomain(app.node.tryGetContext("domainName"), app.node.tryGetContext("certificateArn")),
  tableName: app.node.tryGetContext("tableName"),
  env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
});

app.synth();
