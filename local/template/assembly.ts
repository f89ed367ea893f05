/**
 * A synthesized cloud assembly, read the way CloudFormation reads it: the names of the stack's resources, and
 * their properties with all references resolved.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { arnOf } from "./arns.ts";
import { physicalId } from "./names.ts";
import { resolve } from "./resolve.ts";
import { awsApiOrigin, declared, type Environment, type Stack, type Template } from "./stack.ts";

export type Resource<Properties = Record<string, unknown>> = {
  logicalId: string;
  type: string;
  properties: Properties;
};

export type Assembly = {
  stackName: string;
  region: string;
  accountId: string;
  /** Resources of one type, such as `AWS::SQS::Queue`. */
  ofType<Properties = Record<string, unknown>>(type: string): Resource<Properties>[];
  /** One resource with resolved properties. Throws for an unknown logical id. */
  resource<Properties = Record<string, unknown>>(logicalId: string): Resource<Properties>;
  /** Any template value with its references and functions resolved. */
  resolve(value: unknown): unknown;
  /**
   * The resource's name: the template's own, else `<stack>-<logicalId>`. Of a queue its name, not its URL.
   */
  physicalId(logicalId: string): string;
  arn(logicalId: string): string;
  /** The resource of an ARN, or undefined. */
  logicalIdOf(arn: string): string | undefined;
  /**
   * Sets what stands before a queue's name in its URL: `http://127.0.0.1:PORT/000000000000`. An AWS SDK sends
   * a queue's requests to the origin of this URL, whatever AWS_ENDPOINT_URL_SQS says. So PORT must be the
   * port of the front (front/front.ts).
   */
  setQueueBaseUrl(url: string): void;
  /**
   * Replaces the API's `https://<id>.execute-api.<region>.amazonaws.com` in all values that the template makes
   * of it with the origin of the gateway.
   */
  setApiOrigin(origin: string): void;
  /** The directory that holds a function's code, from its `Code.S3Key`. */
  assetDirectory(s3Key: string): string;
  outputs(): Record<string, string>;
};

type Manifest = {
  artifacts: Record<string, { type: string; properties?: { templateFile?: string; stackName?: string } }>;
};
type AssetManifest = { files: Record<string, { source: { path?: string } }> };

/** Opens the assembly that `cdk synth` left in a directory. Throws unless the directory holds one stack. */
export const openAssembly = (directory: string, environment: Environment): Assembly => {
  const { stack, assets } = readStack(directory, environment);
  const { template } = stack;
  if (template.Conditions !== undefined) throw new Error("A local run knows no templates with conditions");

  const resource = <Properties>(logicalId: string): Resource<Properties> => {
    const { Type: type, Properties: properties } = declared(stack, logicalId);
    return { logicalId, type, properties: resolve(stack, properties) as Properties };
  };

  return {
    stackName: stack.name,
    region: stack.region,
    accountId: stack.accountId,
    ofType: <Properties>(type: string) =>
      Object.entries(template.Resources)
        .filter(([, candidate]) => candidate.Type === type)
        .map(([logicalId]) => resource<Properties>(logicalId)),
    resource,
    resolve: (value) => resolve(stack, value),
    physicalId: (logicalId) => physicalId(stack, logicalId),
    arn: (logicalId) => arnOf(stack, logicalId),
    logicalIdOf: indexArns(stack),
    setQueueBaseUrl: (url) => {
      stack.queueBaseUrl = url.replace(/\/$/, "");
    },
    setApiOrigin: (origin) => {
      stack.apiOrigin = origin;
    },
    assetDirectory: (s3Key) => {
      const path = assets.files[s3Key.replace(/\.zip$/, "")]?.source.path;
      if (path === undefined) throw new Error(`The assembly has no asset ${s3Key}`);
      return join(directory, path);
    },
    outputs: () =>
      Object.fromEntries(
        Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [
          name,
          String(resolve(stack, Value)),
        ]),
      ),
  };
};

const readStack = (
  directory: string,
  { region, accountId }: Environment,
): { stack: Stack; assets: AssetManifest } => {
  const manifest = readJson<Manifest>(join(directory, "manifest.json"));
  const stacks = Object.entries(manifest.artifacts).filter(
    ([, artifact]) => artifact.type === "aws:cloudformation:stack",
  );
  const [only] = stacks;
  if (only === undefined || stacks.length > 1) {
    throw new Error(`${directory} holds ${stacks.length} stacks; exactly one can be run`);
  }
  const apiId = "local";
  const [artifactId, { properties = {} }] = only;
  const stack = {
    region,
    accountId,
    apiId,
    apiOrigin: awsApiOrigin({ apiId, region }),
    name: properties.stackName ?? artifactId,
    template: readJson<Template>(join(directory, properties.templateFile ?? "")),
    queueBaseUrl: `https://sqs.${region}.amazonaws.com/${accountId}`,
  };
  return { stack, assets: readJson<AssetManifest>(join(directory, `${artifactId}.assets.json`)) };
};

/**
 * Looks ARNs up in an index that the first call makes: ARNs that depend on the queue base URL do not exist.
 */
const indexArns = (stack: Stack): ((arn: string) => string | undefined) => {
  const logicalIds = new Map<string, string>();
  return (arn) => {
    if (logicalIds.size === 0) {
      for (const logicalId of Object.keys(stack.template.Resources)) {
        logicalIds.set(arnOf(stack, logicalId), logicalId);
      }
    }
    return logicalIds.get(arn);
  };
};

const readJson = <Content>(path: string): Content => JSON.parse(readFileSync(path, "utf8")) as Content;
