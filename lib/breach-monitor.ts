import { Lazy, Stack } from "aws-cdk-lib";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { everyRoute, parts } from "../functions/parts.ts";
import { scim } from "../functions/scim/endpoint.ts";
import { startScheduledScan } from "../functions/start-scheduled-scan/worker.ts";
import { queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import type { QueueName } from "../shared/contract/messages.ts";
import { Alarms } from "./alarms.ts";
import { addBudget } from "./budget.ts";
import type { Bundles } from "./bundle.ts";
import { InvalidOption, type Options, readOptions } from "./options.ts";
import { ServiceApi } from "./rest-api.ts";
import { createSender } from "./sender.ts";
import {
  createLogGroup,
  endpointMegabytes,
  ServiceFunction,
  type ServiceFunctionProps,
} from "./service-function.ts";
import { createTable, findTable } from "./table.ts";
import type { IdentityProvider, Resources } from "./uses.ts";
import { createDeadLetterQueue, WorkQueue } from "./work-queue.ts";
import { addDeadLetterAlarm, addFailureAlarm, addSilenceAlarm, addThrottleAlarms } from "./worker-alarms.ts";
import { OnDemandWorkerFunction, QueueWorkerFunction, ScheduledWorkerFunction } from "./workers.ts";

export type BreachMonitorProps = Partial<Options> & {
  /** Of `bundleFunctions`. */
  bundles: Bundles;
  /**
   * What the names of all resources begin with: 1 to 42 letters, digits and hyphens, first a letter. No two
   * services in an account and region may have the same. Default: the stack's name.
   */
  name?: string;
};

/**
 * The whole service. Contracts in `functions/` say what each function is, may do and needs.
 */
export class BreachMonitor extends Construct {
  /**
   * What administrators need to know. `admin --stack` finds these values in outputs of the stack with the same names.
   */
  readonly outputs: Readonly<Record<string, string>>;

  /** Throws `InvalidOption`. */
  constructor(scope: Construct, id: string, { bundles, name: given, ...chosen }: BreachMonitorProps) {
    super(scope, id);
    const name = given ?? Stack.of(this).stackName;
    // With the longest name of a function this is the 64 characters that Lambda takes.
    if (!/^[a-zA-Z][a-zA-Z0-9-]{0,41}$/.test(name)) {
      throw new InvalidOption(
        `The name must be 1 to 42 letters, digits and hyphens and start with a letter, not "${name}"`,
      );
    }
    const options = readOptions((option) => chosen[option]);
    const { alarmEmail, senderEmail, tableName } = options;
    const alarms = new Alarms(this, "Alarms", { name, set: options.alarms, email: alarmEmail });
    if (options.monthlyBudgetDollars !== undefined && alarmEmail !== undefined)
      addBudget(this, name, options.monthlyBudgetDollars, alarmEmail);

    // What the functions use
    const table =
      tableName === undefined ? createTable(this, options.tableEncryption) : findTable(this, tableName);
    // CloudFormation cannot make an encrypted parameter. Operators make that of the HIBP key, the first
    // function that seals the other.
    const hibpKeyParameter = `/breach-monitor/${name}/hibp-api-key`;
    const channelKeyParameter = `/breach-monitor/${name}/channel-key`;
    const scheduleGroup = new CfnScheduleGroup(this, "ScheduleGroup", {
      name: `${name}-${startScheduledScan.scheduleGroup}`,
    });
    const deadLetters = createDeadLetterQueue(this, name);
    const queues = Object.fromEntries(
      queueWorkers.map(({ worker }) => [worker.queue, new WorkQueue(this, name, worker, deadLetters).queue]),
    ) as Record<QueueName, Queue>;
    const sender = senderEmail === undefined ? undefined : createSender(this, name, senderEmail, options);
    // Lazy, because functions need the API's url and the API is built from the functions.
    const dashboardUrl = Lazy.string({ produce: () => `${api.url}/app` });
    const resources: Resources = {
      name,
      table,
      queues,
      hibpKeyParameter,
      hibpContact: options.hibpContact,
      limitsConcurrency: options.alarms !== "minimal",
      keyGuards: options.keyGuards,
      channelKeyParameter,
      identityProvider: identityProviderOf(name, options),
      scheduleGroup,
      deadLetters,
      sender,
      dashboardUrl,
    };

    // Workers
    const fedByQueues = queueWorkers.map(
      ({ folder, worker, ...named }) =>
        new QueueWorkerFunction(this, { ...named, code: bundles(folder), worker, resources }),
    );
    const onSchedule = scheduledWorkers.map(({ folder, worker, ...named }) => {
      const scheduled = new ScheduledWorkerFunction(this, {
        ...named,
        code: bundles(folder),
        worker,
        resources,
      });
      if (worker.isWatchman) addSilenceAlarm(scheduled, worker, alarms);
      return scheduled;
    });
    const scheduledScan = new OnDemandWorkerFunction(this, {
      name: "start-scheduled-scan",
      code: bundles("start-scheduled-scan"),
      worker: startScheduledScan,
      resources,
    });
    const workers = [...fedByQueues, ...onSchedule, scheduledScan];
    addFailureAlarm(this, workers, alarms);
    addDeadLetterAlarm(deadLetters, alarms);
    addThrottleAlarms(table, alarms);

    // The API
    const apiResources: Resources = {
      ...resources,
      scheduledScan: {
        functionArn: scheduledScan.function.functionArn,
        roleArn: scheduledScan.scheduleRoleArn,
      },
    };
    const createFunction = (
      folder: string,
      contract: Pick<ServiceFunctionProps, "uses" | "timeoutSeconds" | "quiet">,
      logGroup?: ILogGroup,
    ) =>
      new ServiceFunction(this, {
        name: folder,
        code: bundles(folder),
        resources: apiResources,
        ...contract,
        memoryMegabytes: endpointMegabytes,
        logGroup,
      });
    const authorize = createFunction("authorize", {
      uses: ["table:read", "table:limits", "table:credentials"],
      quiet: true,
    });
    authorize.function.addEnvironment("PATHS_FOR_ANYONE", JSON.stringify(pathsForAnyone()));
    const scimFunction = createFunction("scim", scim);
    const { trustedProxySecretSha256 } = options;
    if (trustedProxySecretSha256 !== undefined)
      for (const each of [authorize, scimFunction])
        each.function.addEnvironment("TRUSTED_PROXY_SHA256", trustedProxySecretSha256);
    const api: ServiceApi = new ServiceApi(
      this,
      "Api",
      {
        name,
        parts: parts.map(({ name: part, routes }) => {
          // One for all endpoints of a part, so that operators search one.
          const logGroup = createLogGroup(this, `${part}-logs`, `${name}-${part}`);
          return {
            name: part,
            routes: routes.map((route) => ({
              route,
              function: createFunction(route.name, route.endpoint, logGroup),
            })),
          };
        }),
        authorize,
        refuseRoute: createFunction("refuse-route", { uses: [] }),
        serveDashboard: createFunction("serve-dashboard", { uses: [] }),
        scim: scimFunction,
        workers,
        options,
      },
      alarms,
    );

    this.outputs = {
      ApiUrl: `${api.url}/v1`,
      DashboardUrl: dashboardUrl,
      TableName: table.tableName,
      OutboxQueueUrl: queues.outbox.queueUrl,
      DeliveriesQueueUrl: queues.deliveries.queueUrl,
      AcknowledgementsQueueUrl: queues.acknowledgements.queueUrl,
      HibpApiKeyParameter: hibpKeyParameter,
      ...(options.hibpContact !== undefined && { HibpContact: options.hibpContact }),
      ChannelKeyParameter: channelKeyParameter,
      ...(sender !== undefined && { SenderEmail: sender.address }),
      ...(resources.identityProvider !== undefined && {
        OidcIssuer: resources.identityProvider.issuer,
        OidcClientSecretParameter: resources.identityProvider.clientSecretParameter,
      }),
      ScheduleGroupName: scheduleGroup.ref,
      ScheduledScanFunctionArn: scheduledScan.function.functionArn,
      ScheduledScanRoleArn: scheduledScan.scheduleRoleArn,
      DeadLettersQueueArn: deadLetters.queueArn,
      ...(api.domainTarget !== undefined && { DomainTarget: api.domainTarget }),
    };
  }
}

/** Undefined if none is set up. */
const identityProviderOf = (name: string, options: Options): IdentityProvider | undefined => {
  const { oidcIssuer: issuer, oidcClientId: clientId } = options;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    name: options.oidcName ?? "single sign-on",
    emailClaim: options.oidcEmailClaim,
    required: options.oidcRequire,
    join: options.oidcJoin,
    clientSecretParameter: `/breach-monitor/${name}/oidc-client-secret`,
  };
};

/** The authorizer looks at no credential on these, whatever the method. */
const pathsForAnyone = (): string[] => [
  ...new Set(everyRoute.filter(({ endpoint }) => endpoint.access === "anyone").map(({ path }) => path)),
];
