/**
 * A synthesized cloud assembly, read the way CloudFormation reads it: what the stack's resources are called, and what their
 * properties come to once references are resolved. Nothing is deployed; names are derived from the template alone, so
 * the same template has the same names on every start and data kept on disk is found again.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Environment = {
  region: string;
  /** Twelve digits. */
  accountId: string;
  /** What a REST API's Ref gives. */
  apiId?: string;
};

export type Resource<Properties = Record<string, unknown>> = {
  logicalId: string;
  type: string;
  properties: Properties;
};

export type Assembly = {
  stackName: string;
  region: string;
  accountId: string;
  /** The resources of one type, such as `AWS::SQS::Queue`, with resolved properties. Those whose condition is false are absent. */
  ofType<Properties = Record<string, unknown>>(type: string): Resource<Properties>[];
  /** One resource with resolved properties. Throws for an unknown logical id. */
  resource<Properties = Record<string, unknown>>(logicalId: string): Resource<Properties>;
  /** Any template value with its references and functions resolved. */
  resolve(value: unknown): unknown;
  /** The resource's name: the template's own if it gives one, else `<stack>-<logicalId>`. Of a queue: its name, not its URL. */
  physicalId(logicalId: string): string;
  arn(logicalId: string): string;
  /** The resource an ARN belongs to (a function's also when it carries a version or alias), or undefined. */
  logicalIdOf(arn: string): string | undefined;
  /**
   * What a Ref of a queue gives is this, a slash and the queue's name: `http://127.0.0.1:PORT/000000000000`. The AWS SDK sends
   * a queue's requests to the origin of its URL, whatever the endpoint variable says, so PORT must be the port of the
   * front that enforces roles (front.ts), not that of the queue server behind it.
   */
  setQueueBaseUrl(url: string): void;
  /** The directory that holds a function's code, from its `Code.S3Key`. */
  assetDirectory(s3Key: string): string;
  outputs(): Record<string, string>;
};

type Template = {
  Resources: Record<string, TemplateResource>;
  Parameters?: Record<string, { Default?: unknown }>;
  Conditions?: Record<string, unknown>;
  Mappings?: Record<string, Record<string, Record<string, unknown>>>;
  Outputs?: Record<string, { Value: unknown; Condition?: string }>;
};
type TemplateResource = { Type: string; Properties?: Record<string, unknown>; Condition?: string };
type Manifest = {
  artifacts: Record<string, { type: string; properties?: { templateFile?: string; stackName?: string } }>;
};
type AssetManifest = { files: Record<string, { source: { path?: string } }> };

const nothing = Symbol("AWS::NoValue");

/** Lambda's limit for names is 64, the shortest that matters here; queues allow 80. */
const nameLength = 64;

/** The property that names a resource, where the type has one that CloudFormation uses for its Ref or ARN. */
const nameProperty: Record<string, string> = {
  "AWS::CloudWatch::Alarm": "AlarmName",
  "AWS::DynamoDB::GlobalTable": "TableName",
  "AWS::DynamoDB::Table": "TableName",
  "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
  "AWS::IAM::Role": "RoleName",
  "AWS::Lambda::Function": "FunctionName",
  "AWS::Logs::LogGroup": "LogGroupName",
  "AWS::S3::Bucket": "BucketName",
  "AWS::SES::ConfigurationSet": "Name",
  "AWS::SES::EmailIdentity": "EmailIdentity",
  "AWS::SNS::Topic": "TopicName",
  "AWS::SQS::Queue": "QueueName",
  "AWS::Scheduler::Schedule": "Name",
  "AWS::Scheduler::ScheduleGroup": "Name",
  "AWS::SecretsManager::Secret": "Name",
  "AWS::ApiGateway::Stage": "StageName",
};

/** Types whose Ref is their ARN. */
const refIsArn = new Set([
  "AWS::IAM::ManagedPolicy",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Version",
  "AWS::SNS::Topic",
  "AWS::SecretsManager::Secret",
]);

/**
 * Opens the assembly that `cdk synth` left in a directory.
 * Throws if the directory holds none, or more than one stack.
 */
export function openAssembly(directory: string, environment: Environment): Assembly {
  const manifest = readJson<Manifest>(join(directory, "manifest.json"));
  const stacks = Object.entries(manifest.artifacts).filter(
    ([, artifact]) => artifact.type === "aws:cloudformation:stack",
  );
  const [stack] = stacks;
  if (stack === undefined || stacks.length > 1) {
    throw new Error(`${directory} holds ${stacks.length} stacks; exactly one can be run`);
  }
  const [artifactId, artifact] = stack;
  const stackName = artifact.properties?.stackName ?? artifactId;
  const template = readJson<Template>(join(directory, artifact.properties?.templateFile ?? ""));
  const assets = readJson<AssetManifest>(join(directory, `${artifactId}.assets.json`));
  const { region, accountId, apiId = "local" } = environment;

  let queueBaseUrl = `https://sqs.${region}.amazonaws.com/${accountId}`;
  const pseudoParameters: Record<string, unknown> = {
    "AWS::AccountId": accountId,
    "AWS::NoValue": nothing,
    "AWS::Partition": "aws",
    "AWS::Region": region,
    "AWS::StackId": `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
    "AWS::StackName": stackName,
    "AWS::URLSuffix": "amazonaws.com",
  };

  function declared(logicalId: string): TemplateResource {
    const resource = template.Resources[logicalId];
    if (resource === undefined) throw new Error(`The template has no resource ${logicalId}`);
    return resource;
  }

  function physicalId(logicalId: string): string {
    const { Type: type, Properties: properties = {} } = declared(logicalId);
    if (type === "AWS::ApiGateway::RestApi") return apiId;
    const property = nameProperty[type];
    const named = property === undefined ? undefined : resolve(properties[property]);
    if (typeof named === "string") return named;
    const name = shorten(`${stackName}-${logicalId}`);
    return properties.FifoQueue === true ? `${name}.fifo` : name;
  }

  function arn(logicalId: string): string {
    const { Type: type, Properties: properties = {} } = declared(logicalId);
    const name = physicalId(logicalId);
    const within = (service: string, resource: string) =>
      `arn:aws:${service}:${region}:${accountId}:${resource}`;
    switch (type) {
      case "AWS::ApiGateway::RestApi":
        return `arn:aws:apigateway:${region}::/restapis/${name}`;
      case "AWS::CloudWatch::Alarm":
        return within("cloudwatch", `alarm:${name}`);
      case "AWS::DynamoDB::GlobalTable":
      case "AWS::DynamoDB::Table":
        return within("dynamodb", `table/${name}`);
      case "AWS::IAM::ManagedPolicy":
        return `arn:aws:iam::${accountId}:policy/${name}`;
      case "AWS::IAM::Role":
        return `arn:aws:iam::${accountId}:role${resolve(properties.Path) ?? "/"}${name}`;
      case "AWS::Lambda::Function":
        return within("lambda", `function:${name}`);
      case "AWS::Lambda::Alias":
        return `${functionArn(properties.FunctionName)}:${resolve(properties.Name)}`;
      case "AWS::Lambda::Version":
        return `${functionArn(properties.FunctionName)}:1`;
      case "AWS::Logs::LogGroup":
        return within("logs", `log-group:${name}:*`);
      case "AWS::S3::Bucket":
        return `arn:aws:s3:::${name}`;
      case "AWS::SES::EmailIdentity":
        return within("ses", `identity/${name}`);
      case "AWS::SES::ConfigurationSet":
        return within("ses", `configuration-set/${name}`);
      case "AWS::SNS::Topic":
        return within("sns", name);
      case "AWS::SQS::Queue":
        return within("sqs", name);
      case "AWS::Scheduler::Schedule":
        return within("scheduler", `schedule/${resolve(properties.GroupName) ?? "default"}/${name}`);
      case "AWS::Scheduler::ScheduleGroup":
        return within("scheduler", `schedule-group/${name}`);
      case "AWS::SecretsManager::Secret":
        // AWS appends a hyphen and six random characters.
        return within("secretsmanager", `secret:${name}-${hash(logicalId).slice(0, 6)}`);
      default: {
        const [, service = "", kind = ""] = type.split("::");
        return within(service.toLowerCase(), `${kind.toLowerCase()}/${name}`);
      }
    }
  }

  /** The ARN of a function given as a template value that comes to its name or its ARN. */
  function functionArn(value: unknown): string {
    const nameOrArn = String(resolve(value));
    return nameOrArn.startsWith("arn:")
      ? nameOrArn
      : `arn:aws:lambda:${region}:${accountId}:function:${nameOrArn}`;
  }

  function ref(name: string): unknown {
    if (name in pseudoParameters) return pseudoParameters[name];
    const parameter = template.Parameters?.[name];
    if (parameter !== undefined) {
      if (parameter.Default === undefined) throw new Error(`The template's parameter ${name} has no default`);
      return parameter.Default;
    }
    const { Type: type } = declared(name);
    if (type === "AWS::SQS::Queue") return `${queueBaseUrl}/${physicalId(name)}`;
    return refIsArn.has(type) ? arn(name) : physicalId(name);
  }

  function attribute(logicalId: string, name: string): unknown {
    const { Type: type, Properties: properties = {} } = declared(logicalId);
    switch (name) {
      case "Arn":
      case "FunctionArn":
      case "TopicArn":
        return arn(logicalId);
      case "QueueName":
      case "TopicName":
      case "StageName":
        return physicalId(logicalId);
      case "QueueUrl":
        return ref(logicalId);
      case "RootResourceId":
        return `${physicalId(logicalId)}-root`;
      case "Version":
        if (type === "AWS::Lambda::Version") return "1";
        break;
      case "FunctionName":
        return resolve(properties.FunctionName);
      default:
    }
    return `${physicalId(logicalId)}-${name}`;
  }

  function condition(name: string): boolean {
    const expression = template.Conditions?.[name];
    if (expression === undefined) throw new Error(`The template has no condition ${name}`);
    return resolve(expression) === true;
  }

  function substitute(text: string, variables: Record<string, unknown>): string {
    return text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
      if (name.startsWith("!")) return `\${${name.slice(1)}}`;
      if (name in variables) return String(resolve(variables[name]));
      const [logicalId = "", ...attributes] = name.split(".");
      return String(attributes.length > 0 ? attribute(logicalId, attributes.join(".")) : ref(name));
    });
  }

  function call(name: string, argument: unknown): unknown {
    const list = () => resolve(argument) as unknown[];
    switch (name) {
      case "Ref":
        return ref(String(argument));
      case "Condition":
        return condition(String(argument));
      case "Fn::GetAtt": {
        const [logicalId, ...attributes] =
          typeof argument === "string" ? argument.split(".") : (argument as string[]);
        return attribute(logicalId ?? "", attributes.join("."));
      }
      case "Fn::Sub":
        return typeof argument === "string"
          ? substitute(argument, {})
          : substitute(...(argument as [string, Record<string, unknown>]));
      case "Fn::Join": {
        const [delimiter, parts] = list() as [string, unknown[]];
        return parts.join(delimiter);
      }
      case "Fn::Select": {
        const [index, values] = list() as [number | string, unknown[]];
        return values[Number(index)];
      }
      case "Fn::Split": {
        const [delimiter, text] = list() as [string, string];
        return text.split(delimiter);
      }
      case "Fn::If": {
        const [name, whenTrue, whenFalse] = argument as [string, unknown, unknown];
        return resolveOrNothing(condition(name) ? whenTrue : whenFalse);
      }
      case "Fn::Equals": {
        const [left, right] = list();
        return String(left) === String(right);
      }
      case "Fn::And":
        return list().every((value) => value === true);
      case "Fn::Or":
        return list().some((value) => value === true);
      case "Fn::Not":
        return list()[0] !== true;
      case "Fn::FindInMap": {
        const [map, first, second] = list() as [string, string, string];
        return template.Mappings?.[map]?.[first]?.[second];
      }
      case "Fn::Base64":
        return Buffer.from(String(resolve(argument))).toString("base64");
      case "Fn::ToJsonString":
        return JSON.stringify(resolve(argument));
      default:
        throw new Error(`The template uses ${name}, which cannot be resolved locally`);
    }
  }

  /** As resolve, but tells a missing value (`AWS::NoValue`) apart, so that the property that has it can be left out. */
  function resolveOrNothing(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolveOrNothing).filter((item) => item !== nothing);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined && isFunction(only[0], only[1])) return call(...only);
    return Object.fromEntries(
      entries
        .map(([key, item]) => [key, resolveOrNothing(item)] as const)
        .filter(([, item]) => item !== nothing),
    );
  }

  function resolve(value: unknown): unknown {
    const resolved = resolveOrNothing(value);
    return resolved === nothing ? undefined : resolved;
  }

  function exists({ Condition: name }: { Condition?: string }): boolean {
    return name === undefined || condition(name);
  }

  function resource<Properties>(logicalId: string): Resource<Properties> {
    const { Type: type, Properties: properties = {} } = declared(logicalId);
    return { logicalId, type, properties: resolve(properties) as Properties };
  }

  const byArn = new Map<string, string>();
  function logicalIdOf(wanted: string): string | undefined {
    if (byArn.size === 0) {
      for (const logicalId of Object.keys(template.Resources)) byArn.set(arn(logicalId), logicalId);
    }
    const unqualified = wanted.replace(/^(arn:[^:]*:lambda:[^:]*:[^:]*:function:[^:]+):[^:]+$/, "$1");
    return byArn.get(unqualified) ?? byArn.get(wanted);
  }

  return {
    stackName,
    region,
    accountId,
    ofType: <Properties>(type: string) =>
      Object.entries(template.Resources)
        .filter(([, candidate]) => candidate.Type === type && exists(candidate))
        .map(([logicalId]) => resource<Properties>(logicalId)),
    resource,
    resolve,
    physicalId,
    arn,
    logicalIdOf,
    setQueueBaseUrl: (url) => {
      queueBaseUrl = url.replace(/\/$/, "");
    },
    assetDirectory: (s3Key) => {
      const path = assets.files[s3Key.replace(/\.zip$/, "")]?.source.path;
      if (path === undefined) throw new Error(`The assembly has no asset ${s3Key}`);
      return join(directory, path);
    },
    outputs: () =>
      Object.fromEntries(
        Object.entries(template.Outputs ?? {})
          .filter(([, output]) => exists(output))
          .map(([name, output]) => [name, String(resolve(output.Value))]),
      ),
  };
}

/** Whether a one-key object is a function call. `Condition` also names a key of policy statements, whose value is an object. */
function isFunction(key: string, argument: unknown): boolean {
  return key === "Ref" || key.startsWith("Fn::") || (key === "Condition" && typeof argument === "string");
}

function shorten(name: string): string {
  return name.length <= nameLength ? name : `${name.slice(0, nameLength - 9)}-${hash(name).slice(0, 8)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, "utf8")) as Content;
}
