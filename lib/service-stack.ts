import { CfnOutput, Lazy, Stack, type StackProps } from "aws-cdk-lib";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { dashboardRoutes } from "../functions/dashboard-routes.ts";
import { routes } from "../functions/routes.ts";
import { startScheduledScan } from "../functions/start-scheduled-scan/worker.ts";
import { queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import type { Method, Route } from "../shared/contract/endpoint.ts";
import type { QueueName } from "../shared/contract/messages.ts";
import { Alarms } from "./alarms.ts";
import type { ApiDomain } from "./api-domain.ts";
import { addBudget } from "./budget.ts";
import type { Bundles } from "./bundle.ts";
import { createHibpApiKey } from "./hibp-api-key.ts";
import { OnDemandWorkerFunction } from "./on-demand-worker.ts";
import type { Options } from "./options.ts";
import { QueueWorkerFunction } from "./queue-worker.ts";
import { ServiceApi } from "./rest-api.ts";
import { ScheduledWorkerFunction } from "./scheduled-worker.ts";
import { createSender } from "./sender.ts";
import {
  createLogGroup,
  endpointMegabytes,
  ServiceFunction,
  type ServiceFunctionProps,
} from "./service-function.ts";
import { createTable, findTable } from "./table.ts";
import { addThrottleAlarms } from "./throttle-alarms.ts";
import type { Resources } from "./uses.ts";
import { createDeadLetterQueue, WorkQueue } from "./work-queue.ts";
import { addDeadLetterAlarm, addFailureAlarm, addSilenceAlarm } from "./worker-alarms.ts";

export type ServiceStackProps = StackProps & {
  bundles: Bundles;
  options: Options;
  /** The address that alarms are sent to. Undefined: alarms notify nobody. */
  alarmEmail: string | undefined;
  /** The address that e-mail alerts come from, verified in SES (or its domain). Undefined: none are sent. */
  senderEmail: string | undefined;
  /** A name of the deployment's own. Undefined: the one that API Gateway gives the API. */
  domain: ApiDomain | undefined;
  /** The name of an existing table. Undefined: the stack creates one. */
  tableName: string | undefined;
};

/** The whole service. Contracts in `functions/` say what each function is, may do and needs. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { bundles, options, alarmEmail, senderEmail, domain, tableName, ...props }: ServiceStackProps,
  ) {
    super(scope, id, props);
    const alarms = new Alarms(this, "Alarms", { set: options.alarms, email: alarmEmail });
    if (options.monthlyBudgetDollars !== undefined) addBudget(this, options.monthlyBudgetDollars, alarmEmail);

    // What the functions use
    const table =
      tableName === undefined ? createTable(this, options.tableEncryption) : findTable(this, tableName);
    const hibpApiKey = createHibpApiKey(this, options.hibpApiKey);
    // CloudFormation cannot make an encrypted parameter. The first function that seals makes it.
    const channelKeyParameter = `/breach-monitor/${this.stackName}/channel-key`;
    const identityProvider = options.identityProvider && {
      ...options.identityProvider,
      clientSecretParameter: `/breach-monitor/${this.stackName}/oidc-client-secret`,
    };
    const scheduleGroup = new CfnScheduleGroup(this, "ScheduleGroup", {
      name: `${this.stackName}-${startScheduledScan.scheduleGroup}`,
    });
    const deadLetters = createDeadLetterQueue(this);
    const queues = Object.fromEntries(
      queueWorkers.map(({ worker }) => [worker.queue, new WorkQueue(this, worker, deadLetters).queue]),
    ) as Record<QueueName, Queue>;
    const sender = senderEmail === undefined ? undefined : createSender(this, senderEmail, options);
    // Lazy, because functions need the API's url and the API is built from the functions.
    const dashboardUrl = Lazy.string({ produce: () => `${api.url}/app` });
    const resources: Resources = {
      table,
      queues,
      hibpApiKey,
      hibpContact: options.hibpContact,
      limitsConcurrency: options.maximumConcurrency,
      keyGuards: options.keyGuards,
      channelKeyParameter,
      proxySecretParameter: options.trustedProxySecret,
      identityProvider,
      scheduleGroup,
      deadLetters,
      sender,
      dashboardUrl,
    };

    // Workers
    const fedByQueues = queueWorkers.map(
      ({ name, folder, worker }) =>
        new QueueWorkerFunction(this, { name, code: bundles(folder), worker, resources }),
    );
    const onSchedule = scheduledWorkers.map(({ name, folder, worker }) => {
      const scheduled = new ScheduledWorkerFunction(this, { name, code: bundles(folder), worker, resources });
      if (worker.isWatchman) addSilenceAlarm(scheduled, worker, alarms);
      return scheduled;
    });
    const scheduledScan = new OnDemandWorkerFunction(this, {
      name: "start-scheduled-scan",
      code: bundles("start-scheduled-scan"),
      worker: startScheduledScan,
      resources,
    });
    addFailureAlarm(this, [...fedByQueues, ...onSchedule, scheduledScan], alarms);
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
      name: string,
      contract: Pick<ServiceFunctionProps, "uses" | "timeoutSeconds" | "quiet">,
      logGroup?: ILogGroup,
    ) =>
      new ServiceFunction(this, {
        name,
        code: bundles(name),
        resources: apiResources,
        ...contract,
        memoryMegabytes: endpointMegabytes,
        logGroup,
      }).function;
    const refuseRoute = createFunction("refuse-route", { uses: [] });
    refuseRoute.addEnvironment("DECLARED_METHODS", JSON.stringify(methodsByPath()));
    const authorize = createFunction("authorize", {
      uses: ["table:read", "table:limits", "table:credentials", "proxy-secret"],
      quiet: true,
    });
    authorize.addEnvironment("PATHS_FOR_ANYONE", JSON.stringify(pathsForAnyone()));
    const api: ServiceApi = new ServiceApi(
      this,
      {
        parts: parts.map(({ name, routes }) => {
          // One for all endpoints of a part, as a stack may have 500 resources.
          const logGroup = createLogGroup(this, `${name}-logs`, name);
          return {
            name,
            routes: routes.map((route) => ({
              route,
              function: createFunction(route.name, route.endpoint, logGroup),
            })),
          };
        }),
        authorize,
        refuseRoute,
        serveDashboard: createFunction("serve-dashboard", { uses: [] }),
        options,
        domain,
      },
      alarms,
    );

    // What administrators and the admin command line need to know
    const outputs = {
      ApiUrl: `${api.url}/v1`,
      DashboardUrl: dashboardUrl,
      TableName: table.tableName,
      ScanPlansQueueUrl: queues["scan-plans"].queueUrl,
      DeliveriesQueueUrl: queues.deliveries.queueUrl,
      AcknowledgementsQueueUrl: queues.acknowledgements.queueUrl,
      ...("secret" in hibpApiKey
        ? { HibpSecretName: hibpApiKey.secretName }
        : { HibpApiKeyParameter: hibpApiKey.parameter }),
      ...(options.hibpContact !== undefined && { HibpContact: options.hibpContact }),
      ChannelKeyParameter: channelKeyParameter,
      ...(identityProvider !== undefined && {
        OidcIssuer: identityProvider.issuer,
        OidcClientSecretParameter: identityProvider.clientSecretParameter,
      }),
      ScheduleGroupName: scheduleGroup.ref,
      ScheduledScanFunctionArn: scheduledScan.function.functionArn,
      ScheduledScanRoleArn: scheduledScan.scheduleRoleArn,
      DeadLettersQueueArn: deadLetters.queueArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** The parts of the API by the first segment of their paths. */
const parts: readonly { name: string; routes: readonly Route[] }[] = [
  { name: "v1", routes },
  { name: "dashboard", routes: dashboardRoutes },
];

/** Every route with its path below the stage. */
const everyRoute = parts.flatMap(({ name, routes }) =>
  routes.map((route) => ({ ...route, path: `/${name}${route.path}` })),
);

const methodsByPath = (): Record<string, Method[]> => {
  const methods: Record<string, Method[]> = {};
  for (const { path, method } of everyRoute) methods[path] = [...(methods[path] ?? []), method];
  return methods;
};

/** The authorizer looks at no credential on these, whatever the method. */
const pathsForAnyone = (): string[] => [
  ...new Set(everyRoute.filter(({ endpoint }) => endpoint.access === "anyone").map(({ path }) => path)),
];
