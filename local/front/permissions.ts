/** Which IAM permissions a request to an AWS service needs, from each service's authorization reference. */

import type { KeyNames } from "../dynamodb/rows.ts";
import type { Permission } from "../iam/iam.ts";
import type { Context } from "../iam/policy.ts";
import type { Assembly } from "../template/assembly.ts";

export type Service = "dynamodb" | "sqs" | "scheduler" | "ses" | "ssm";

export type AwsRequest = {
  /** The service's name in the signature's credential scope. */
  service: Service;
  method: string;
  url: string;
  /** The X-Amz-Target header. */
  target: string | undefined;
  /** The body, parsed; an empty object if there was none. */
  body: Readonly<Record<string, unknown>>;
};

/**
 * Which partition keys and attributes IAM sees for a write of a transaction, which AWS does not document: its
 * `own`, those of `all` writes and checks of the transaction together, or `none`.
 */
export const transactionKeys = ["all", "own", "none"] as const;
export type TransactionKeys = (typeof transactionKeys)[number];

export const isService = (name: string): name is Service => Object.hasOwn(permissions, name);

/** The permissions that a request needs, all of them. Empty if the service has no such operation. */
export const requiredPermissions = (
  request: AwsRequest,
  assembly: Assembly,
  keyNames: KeyNames,
  keys: TransactionKeys = "all",
): readonly Permission[] => permissions[request.service](request, assembly, keyNames, keys);

const arnWithin = (assembly: Assembly, service: Service, resource: string): string =>
  `arn:aws:${service}:${assembly.region}:${assembly.accountId}:${resource}`;

/** The part of X-Amz-Target behind the dot: `SendMessage` of `AmazonSQS.SendMessage`. */
const operationOf = ({ target = "" }: AwsRequest): string => target.slice(target.indexOf(".") + 1);

type Row = Record<string, Record<string, unknown> | undefined>;
type TableRequest = {
  TableName?: string;
  IndexName?: string;
  Key?: Row;
  Item?: Row;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  /** Of requests in DynamoDB's form before expressions. */
  AttributeUpdates?: Row;
  Expected?: Row;
};
type TransactionEntry = Record<string, TableRequest | undefined>;

/** Actions that the entries of a transaction need, by the kind of entry. */
const entryActions: Record<string, string> = {
  ConditionCheck: "dynamodb:ConditionCheckItem",
  Delete: "dynamodb:DeleteItem",
  Get: "dynamodb:GetItem",
  Put: "dynamodb:PutItem",
  Update: "dynamodb:UpdateItem",
};

const forDynamodb = (
  request: AwsRequest,
  assembly: Assembly,
  keyNames: KeyNames,
  keys: TransactionKeys,
): Permission[] => {
  const operation = operationOf(request);
  const body = request.body as TableRequest & {
    RequestItems?: Record<string, unknown>;
    TransactItems?: TransactionEntry[];
  };
  const table = (name: string) =>
    name.startsWith("arn:") ? name : arnWithin(assembly, "dynamodb", `table/${name}`);
  const permission = (action: string, part: TableRequest): Permission => {
    const { TableName = "", IndexName, Key, Item } = part;
    const resource = table(TableName);
    const partition = (Key ?? Item)?.[keyNames(TableName)[0] ?? ""];
    return {
      action,
      resources: [IndexName === undefined ? resource : `${resource}/index/${IndexName}`],
      ...(partition && {
        context: {
          "dynamodb:LeadingKeys": String(Object.values(partition)[0]),
          "dynamodb:Attributes": attributesOf(part),
        },
      }),
    };
  };
  if (body.TransactItems !== undefined) {
    const own = body.TransactItems.flatMap((entry) => Object.entries(entry)).map(([kind, write = {}]) =>
      permission(entryActions[kind] ?? `dynamodb:${kind}`, write),
    );
    const context = keys === "own" ? {} : { context: contexts[keys](own) };
    const needed = own.map((each) => ({ ...each, ...context }));
    return [...new Map(needed.map((each) => [JSON.stringify(each), each])).values()];
  }
  const action = `dynamodb:${operation}`;
  if (body.RequestItems !== undefined) {
    return Object.keys(body.RequestItems).map((name) => ({ action, resources: [table(name)] }));
  }
  return [body.TableName === undefined ? { action, resources: ["*"] } : permission(action, body)];
};

/** What IAM sees for each write of a transaction, unless it sees the write's own. */
const contexts: Record<Exclude<TransactionKeys, "own">, (own: readonly Permission[]) => Context> = {
  all: (own) => {
    const united = new Map<string, Set<string>>();
    for (const [key, values] of own.flatMap(({ context = {} }) => Object.entries(context)))
      united.set(key, new Set([...(united.get(key) ?? []), values].flat()));
    return Object.fromEntries([...united].map(([key, values]) => [key, [...values]]));
  },
  none: () => ({}),
};

/** The attributes that a write names: those of the item or its key, and the first parts of paths in expressions. */
const attributesOf = ({
  Key,
  Item,
  UpdateExpression = "",
  ConditionExpression = "",
  ExpressionAttributeNames: names = {},
  AttributeUpdates = {},
  Expected = {},
}: TableRequest): string[] => {
  const named = `${UpdateExpression} ${ConditionExpression}`.matchAll(firstParts);
  const inExpressions = [...named]
    .map(([name]) => names[name] ?? name)
    .filter((name) => !keywords.has(name.toUpperCase()));
  const inParameters = [Key ?? Item ?? {}, AttributeUpdates, Expected].flatMap(Object.keys);
  return [...new Set([...inParameters, ...inExpressions])].sort();
};

/**
 * Placeholders and names that stand for themselves, neither of values (`:`) nor of functions, and no later
 * parts of paths.
 */
const firstParts = /(?<![.\w#:[])[#A-Za-z]\w*(?!\w|\s*\()/g;
const keywords = new Set(["SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN"]);

const forSqs = (request: AwsRequest, assembly: Assembly): Permission[] => {
  const { QueueUrl } = request.body as { QueueUrl?: string };
  const name = QueueUrl?.slice(QueueUrl.lastIndexOf("/") + 1);
  return [
    {
      // A batch needs the permission of its single operation.
      action: `sqs:${operationOf(request).replace(/Batch$/, "")}`,
      resources: [name === undefined ? "*" : arnWithin(assembly, "sqs", name)],
    },
  ];
};

const schedulerOperations: Record<string, string> = {
  POST: "Create",
  GET: "Get",
  PUT: "Update",
  DELETE: "Delete",
};

const forScheduler = ({ method, url, body }: AwsRequest, assembly: Assembly): Permission[] => {
  const { pathname, searchParams } = new URL(url, "http://scheduler");
  const [collection = "", name] = pathname.slice(1).split("/").map(decodeURIComponent);
  if (collection !== "schedules" || name === undefined) return [];
  const action = `scheduler:${schedulerOperations[method]}Schedule`;
  const { GroupName, Target } = body as { GroupName?: string; Target?: { RoleArn?: string } };
  const group = GroupName ?? searchParams.get("groupName") ?? "default";
  const schedule = { action, resources: [arnWithin(assembly, "scheduler", `schedule/${group}/${name}`)] };
  if (Target?.RoleArn === undefined) return [schedule];
  const passRole: Permission = {
    action: "iam:PassRole",
    resources: [Target.RoleArn],
    context: { "iam:PassedToService": "scheduler.amazonaws.com" },
  };
  return [schedule, passRole];
};

const forSes = ({ method, url, body }: AwsRequest, assembly: Assembly): Permission[] => {
  if (method !== "POST" || url !== "/v2/email/outbound-emails") return [];
  const email = body as {
    FromEmailAddress?: string;
    ConfigurationSetName?: string;
  };
  const from = email.FromEmailAddress ?? "";
  const address = (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim();
  const identity = (name: string) => arnWithin(assembly, "ses", `identity/${name}`);
  const sending: Permission = {
    action: "ses:SendEmail",
    // SES uses the identity that is verified, the address or its domain; either may be allowed here.
    resources: [identity(address), identity(address.slice(address.lastIndexOf("@") + 1))],
    context: { "ses:FromAddress": address },
  };
  if (email.ConfigurationSetName === undefined) return [sending];
  const configurationSet = arnWithin(assembly, "ses", `configuration-set/${email.ConfigurationSetName}`);
  return [sending, { ...sending, resources: [configurationSet] }];
};

const forSsm = (request: AwsRequest, assembly: Assembly): Permission[] => {
  const { Name = "", Overwrite } = request.body as { Name?: string; Overwrite?: boolean };
  // A version or a label of a parameter is no part of its ARN.
  const name = Name.split(":")[0] ?? "";
  const action = `ssm:${operationOf(request)}`;
  const resources = [arnWithin(assembly, "ssm", `parameter/${name.replace(/^\//, "")}`)];
  if (action !== "ssm:PutParameter") return [{ action, resources }];
  return [{ action, resources, context: { "ssm:Overwrite": String(Overwrite ?? false) } }];
};

const permissions: Record<Service, typeof forDynamodb> = {
  dynamodb: forDynamodb,
  sqs: forSqs,
  scheduler: forScheduler,
  ses: forSes,
  ssm: forSsm,
};
