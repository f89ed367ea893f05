/** Synthesizes stacks for tests of the template, read as CloudFormation reads it. Their functions have no code. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { afterAll, expect } from "vitest";
import { type Options, readOptions } from "../../lib/options.ts";
import { ServiceStack } from "../../lib/service-stack.ts";
import type { Statement } from "../../local/iam/policy.ts";
import { type Assembly, openAssembly } from "../../local/template/assembly.ts";

/** A resource as it is written, with references unresolved. */
export type Resource = { Type: string; DeletionPolicy?: string; DependsOn?: string[]; Properties: object };
type Template = { Resources: Record<string, Resource> };
export type Stack = Assembly & { template: Template; resources: Resource[] };

// `npm run synth` checks against CloudFormation's rules, which takes five seconds of each process that does it.
process.env.CDK_VALIDATION = "false";

const environment = { region: "us-east-1", accountId: "000000000000" };
const directory = mkdtempSync(join(tmpdir(), "stacks-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Code for functions that nobody runs. */
export const noCode = () => Code.fromInline("exports.handler = async () => {};");

/** The stack `breach-monitor-<stage>` with these options; `ofCdk`: CDK's own context values, as cdk.json has them. */
export const synthesize = (
  stage: string,
  context: Partial<Record<keyof Options, unknown>> = {},
  ofCdk: Record<string, unknown> = {},
): Stack => {
  const name = `breach-monitor-${stage}`;
  const outdir = mkdtempSync(join(directory, "cdk.out-"));
  const app = new App({ outdir, context: ofCdk });
  new ServiceStack(app, name, {
    service: { ...readOptions((option) => context[option]), bundles: noCode },
  });
  app.synth();
  const template: Template = JSON.parse(readFileSync(join(outdir, `${name}.template.json`), "utf8"));
  return Object.assign(openAssembly(outdir, environment), {
    template,
    resources: Object.values(template.Resources),
  });
};

/** The properties of all resources of a type, such as `AWS::SQS::Queue`. */
export const propertiesOf = <P extends object>(stack: Assembly, type: string): P[] =>
  stack.ofType<P>(type).map(({ properties }) => properties);

export type FunctionProperties = {
  FunctionName: string;
  Environment: { Variables: Record<string, string> };
  MemorySize: number;
  Role: string;
  Timeout: number;
  LoggingConfig: { LogGroup: string };
  TracingConfig?: { Mode: string };
  RecursiveLoop?: string;
};

/** The functions of a stack by their names without the stack's. */
export const functionsOf = (stack: Assembly): Map<string, FunctionProperties> =>
  new Map(
    propertiesOf<FunctionProperties>(stack, "AWS::Lambda::Function").map((properties) => [
      properties.FunctionName.slice(stack.stackName.length + 1),
      properties,
    ]),
  );

export const functionNamed = (stack: Assembly, name: string): FunctionProperties => {
  const found = functionsOf(stack).get(name);
  expect(found, name).toBeDefined();
  return found as FunctionProperties;
};

/** A method of the API: its path, its name in lower case or `any`, and what API Gateway does with a request to it. */
export type ApiMethod = {
  path: string;
  method: string;
  security?: object[];
  integration: { type: string; uri: string; credentials: string };
};
type Operation = { security?: object[]; "x-amazon-apigateway-integration": ApiMethod["integration"] };
type ApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, Record<string, object>> };
  "x-amazon-apigateway-gateway-responses": Record<
    string,
    {
      statusCode?: number;
      responseParameters: Record<string, string>;
      responseTemplates: Record<string, string>;
    }
  >;
};

/** The OpenAPI document that API Gateway imports. */
export const documentOf = (stack: Assembly): ApiDocument => {
  const [api] = propertiesOf<{ Body: ApiDocument }>(stack, "AWS::ApiGateway::RestApi");
  expect(api).toBeDefined();
  return (api as { Body: ApiDocument }).Body;
};

export const methodsOf = (stack: Assembly): ApiMethod[] =>
  Object.entries(documentOf(stack).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([name, { security, "x-amazon-apigateway-integration": integration }]) => ({
        path,
        method: name.replace(/^x-amazon-apigateway-any-method$/, "any"),
        ...(security !== undefined && { security }),
        integration,
      }),
    ),
  );

/** The name of a function, without the stack's, in the URI of an integration or authorizer. */
export const functionIn = (stack: Assembly, uri: string): string | undefined =>
  new RegExp(`:function:${stack.stackName}-([^/]+)/invocations$`).exec(uri)?.[1];

/** The statements of a role, which has no policies but those within it. */
export const statementsOf = (stack: Assembly, roleArn: string): Statement[] => {
  const { properties } = stack.resource(stack.logicalIdOf(roleArn) ?? "");
  expect(properties.ManagedPolicyArns).toBeUndefined();
  return (properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]).flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
};

/** Everything that a role may do, as "action resource". */
export const permissionsOf = (stack: Assembly, roleArn: string): string[] =>
  statementsOf(stack, roleArn).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${resource}`)),
  );
