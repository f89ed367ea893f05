/**
 * What each word of a contract's `uses` grants: actions on resources, and the environment variables with
 * which the function finds them. Functions get permissions in no other way. So they can do only what their
 * contract says, and write their logs.
 */
import { Aws, Stack } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import {
  attributesOfConsent,
  attributesOfDirectoryUse,
  attributesOfOperators,
  attributesOfUse,
  attributesOfVerification,
  breachIndex,
  credentialPartitions,
  directoryPartitions,
  dueIndex,
  emailPartitions,
  guardedPartitions,
  keys,
  partitionsOfOperators,
  recipientPartitions,
} from "../shared/aws/table/keys.ts";
import type { Use } from "../shared/contract/endpoint.ts";
import type { QueueName } from "../shared/contract/messages.ts";
import { urlVariable } from "../shared/contract/worker.ts";
import type { Sender } from "./sender.ts";

/** What a function may: the words of its contract, and what functions of its kind need. */
export type Permission = Use | "dead-letters" | `receive:${QueueName}`;

/** An OpenID Connect provider, as the options tell of it. */
export type IdentityProvider = {
  issuer: string;
  clientId: string;
  name: string;
  emailClaim: string | undefined;
  required: string | undefined;
  join: "member" | undefined;
  /** The name of the parameter with this service's secret at the provider. Operators make it. */
  clientSecretParameter: string;
};

/** The resources that functions may use. */
export type Resources = {
  /** What the names of all resources begin with. */
  name: string;
  table: Pick<ITable, "tableName" | "tableArn">;
  queues: Record<QueueName, Queue>;
  /** The name of the parameter with the API key of Have I Been Pwned, from its first slash. */
  hibpKeyParameter: string;
  /** Undefined: the user agent names nobody. */
  hibpContact: string | undefined;
  /** Whether workers have the maximum of concurrent invocations that their contracts name. */
  limitsConcurrency: boolean;
  /** The name of the parameter with the key of alert channels, from its first slash. Functions make it. */
  channelKeyParameter: string;
  /** Undefined: no identity provider is set up. */
  identityProvider: IdentityProvider | undefined;
  /** Whether roles name the partitions that functions may not write. */
  keyGuards: boolean;
  scheduleGroup: CfnScheduleGroup;
  /** Where what was given up is kept. */
  deadLetters: Queue;
  /** What schedules of organizations invoke, and in which role. Undefined for the workers that are made before it. */
  scheduledScan?: { functionArn: string; roleArn: string };
  /** Undefined: e-mail is not set up, and none is sent. */
  sender: Sender | undefined;
  /** The url of the dashboard's page, without a slash at its end. */
  dashboardUrl: string;
};

type Statement = {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, string | string[]>>;
};

export type Grant = Statement & { also?: Statement; environment: Record<string, string> };

/** A condition on the partition keys of a request. "For all" holds without any key, so that there must be one. */
const onKeys = (operator: "StringLike" | "StringNotLike", patterns: readonly string[]) => ({
  [`ForAllValues:${operator}`]: { "dynamodb:LeadingKeys": [...patterns] },
  Null: { "dynamodb:LeadingKeys": "false" },
});

/** A condition on the attributes that a request names. A request that names none is let through. */
const onAttributes = (operator: "StringEquals" | "StringNotEquals", names: readonly string[]) => ({
  [`ForAllValues:${operator}`]: { "dynamodb:Attributes": [...names] },
});

/** What the words that a function does not have would let it write, and those that it has do not. */
const without = (
  words: readonly string[],
  guarded: Readonly<Record<string, readonly string[]>>,
): string[] => {
  const own = words.flatMap((word) => guarded[word] ?? []);
  return [...new Set(Object.values(guarded).flat())].filter((name) => !own.includes(name));
};

/** Whether the word has no grant of its own, and lets `table:write` write more. */
export const addsToWrites = (permission: Permission): boolean => permission in guardedPartitions;

/** The environment variables of all the words, and of what every function may know. */
export const environmentOf = (
  permissions: readonly Permission[],
  resources: Resources,
): Record<string, string> => {
  const { dashboardUrl, sender, identityProvider } = resources;
  return Object.assign(
    { DASHBOARD_URL: dashboardUrl },
    sender && { SENDER_EMAIL: sender.address },
    identityProvider && {
      OIDC_ISSUER: identityProvider.issuer,
      OIDC_CLIENT_ID: identityProvider.clientId,
      OIDC_NAME: identityProvider.name,
    },
    ...permissions.map((each) => grantOf(each, resources, permissions)?.environment),
  );
};

/** What a word grants, beside the other words. Undefined when the resource is not set up. */
export function grantOf(
  permission: Permission,
  {
    table,
    queues,
    hibpKeyParameter,
    hibpContact,
    channelKeyParameter,
    identityProvider,
    keyGuards,
    scheduleGroup,
    deadLetters,
    scheduledScan,
    sender,
  }: Resources,
  permissions: readonly Permission[],
): Grant | undefined {
  const parameterArn = (name: string): string =>
    Stack.of(scheduleGroup).formatArn({ service: "ssm", resource: "parameter", resourceName: name.slice(1) });
  const environment = { TABLE_NAME: table.tableName };
  const indexed = ({ name }: { name: string }): Grant => ({
    actions: ["dynamodb:Query"],
    resources: [`${table.tableArn}/index/${name}`],
    environment,
  });
  const updates = (patterns: readonly string[], attributes?: readonly string[]): Grant => ({
    actions: ["dynamodb:UpdateItem"],
    resources: [table.tableArn],
    conditions: {
      ...onKeys("StringLike", patterns),
      ...(attributes && onAttributes("StringEquals", attributes)),
    },
    environment,
  });
  // A transaction needs the action of each of its writes.
  const writes = (
    conditions: NonNullable<Grant["conditions"]>,
    actions = ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"],
  ): Grant => ({ actions, resources: [table.tableArn], conditions, environment });
  const secret = (name: string, variables: Record<string, string>): Grant => ({
    actions: ["ssm:GetParameter"],
    resources: [parameterArn(name)],
    environment: variables,
  });
  const [word, name] = permission.split(":") as [string, QueueName];
  if (word === "queue") {
    const { queueArn, queueUrl } = queues[name];
    return {
      actions: ["sqs:SendMessage"],
      resources: [queueArn],
      environment: { [urlVariable(name)]: queueUrl },
    };
  }
  if (word === "receive") {
    const { queueArn, queueUrl } = queues[name];
    return {
      // The event source reads the queue with the function's role. Lambda requires the first three actions; with
      // the last one a worker makes a failed message visible again soon.
      actions: [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ChangeMessageVisibility",
      ],
      resources: [queueArn],
      environment: { SOURCE_QUEUE_URL: queueUrl },
    };
  }
  switch (permission) {
    case "table:read":
      return {
        // A transaction's condition on a row reads it.
        actions: [
          "dynamodb:GetItem",
          "dynamodb:BatchGetItem",
          "dynamodb:Query",
          "dynamodb:ConditionCheckItem",
        ],
        resources: [table.tableArn],
        environment,
      };
    case "table:write": {
      const guarded = keyGuards ? without(permissions, guardedPartitions) : [];
      const attributes = onAttributes("StringNotEquals", attributesOfOperators);
      const conditions = { ...(keyGuards && onKeys("StringNotLike", guarded)), ...attributes };
      if (partitionsOfOperators.every((partition) => guarded.includes(partition))) return writes(conditions);
      // A condition on attributes sees those that a put or a deletion names, not those that the row loses.
      const { Null, ...keys } = onKeys("StringNotLike", [...guarded, ...partitionsOfOperators]);
      const also = writes({ ...keys, ...(keyGuards && { Null }), ...attributes }, [
        "dynamodb:PutItem",
        "dynamodb:DeleteItem",
      ]);
      return { ...writes(conditions, ["dynamodb:UpdateItem"]), also };
    }
    case "table:check:domains": {
      // If IAM sees the keys of a whole transaction for each write, "table:write" would refuse transactions
      // that check a domain. IAM tells these from transactions that verify one by their attributes.
      if (!keyGuards) return undefined;
      const guarded = without([...permissions, "table:write:domains"], guardedPartitions);
      const conditions = onKeys("StringNotLike", guarded);
      return writes({
        ...conditions,
        "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": [...emailPartitions] },
        ...onAttributes("StringNotEquals", [...attributesOfOperators, ...attributesOfVerification]),
        Null: { ...conditions.Null, "dynamodb:Attributes": "false" },
      });
    }
    case "table:write:identities":
    case "table:write:organizations":
    case "table:write:domains":
    case "table:write:channels":
    case "table:write:directories":
      // These narrow the condition of "table:write". A statement for each would refuse transactions whose rows are
      // of several kinds, should IAM see their keys together.
      return undefined;
    case "table:delete:organizations":
      return writes(onKeys("StringLike", partitionsOfOperators), ["dynamodb:DeleteItem"]);
    case "table:limits":
      return updates([keys.limit("*", "").pk]);
    case "table:credentials":
      return updates(credentialPartitions, attributesOfUse);
    case "table:directory-use":
      return updates(directoryPartitions, attributesOfDirectoryUse);
    case "table:recipients":
      return updates(recipientPartitions, attributesOfConsent);
    case "table:due-index":
      return indexed(dueIndex);
    case "table:breach-index":
      return indexed(breachIndex);
    case "schedules": {
      const { functionArn } = required(scheduledScan);
      return {
        actions: ["scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule"],
        resources: [
          Stack.of(scheduleGroup).formatArn({
            service: "scheduler",
            // Not those of the stack, which the command line may know: the nag rule of function-role.ts names these.
            region: Aws.REGION,
            account: Aws.ACCOUNT_ID,
            resource: "schedule",
            resourceName: `${scheduleGroup.ref}/*`,
          }),
        ],
        environment: {
          SCHEDULE_GROUP_NAME: scheduleGroup.ref,
          SCHEDULED_SCAN_FUNCTION_ARN: functionArn,
          DEAD_LETTERS_QUEUE_ARN: deadLetters.queueArn,
        },
      };
    }
    case "schedule-role": {
      const { roleArn } = required(scheduledScan);
      return {
        actions: ["iam:PassRole"],
        resources: [roleArn],
        conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
        environment: { SCHEDULED_SCAN_ROLE_ARN: roleArn },
      };
    }
    case "hibp":
      return secret(hibpKeyParameter, {
        HIBP_API_KEY_PARAMETER: hibpKeyParameter,
        ...(hibpContact !== undefined && { HIBP_CONTACT: hibpContact }),
      });
    case "channel-key":
      return {
        actions: ["ssm:GetParameter", "ssm:PutParameter"],
        resources: [parameterArn(channelKeyParameter)],
        // The condition key is part of requests to put alone: a key that exists is not replaced.
        conditions: { StringEqualsIfExists: { "ssm:Overwrite": "false" } },
        environment: { CHANNEL_KEY_PARAMETER: channelKeyParameter },
      };
    case "provider": {
      if (identityProvider === undefined) return undefined;
      const { clientSecretParameter, emailClaim, required, join } = identityProvider;
      return secret(clientSecretParameter, {
        OIDC_CLIENT_SECRET_PARAMETER: clientSecretParameter,
        ...(emailClaim !== undefined && { OIDC_EMAIL_CLAIM: emailClaim }),
        ...(required !== undefined && { OIDC_REQUIRE: required }),
        ...(join !== undefined && { OIDC_JOIN: join }),
      });
    }
    case "email":
      return sender && sending(sender);
    case "email-confirmation":
      return sender?.confirmRecipients ? sending(sender) : undefined;
    case "dead-letters":
      return { actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn], environment: {} };
  }
}

const sending = (sender: Sender): Grant => ({
  actions: ["ses:SendEmail"],
  resources: sender.resourceArns,
  conditions: { StringEquals: { "ses:FromAddress": sender.address } },
  environment: {
    SENDER_CONFIGURATION_SET: sender.configurationSet,
    ...(sender.confirmRecipients && { CONFIRM_RECIPIENTS: "true" }),
  },
});

const required = <T>(resource: T | undefined): T => {
  if (resource === undefined) throw new Error("A function uses what is made after it");
  return resource;
};
