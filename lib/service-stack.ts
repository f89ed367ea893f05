import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { routes } from "../functions/routes.ts";
import { startScheduledScan } from "../functions/start-scheduled-scan/worker.ts";
import { queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import type { Endpoint, Method, Route } from "../shared/api/endpoint.ts";
import type { QueueName } from "../shared/queue/messages.ts";
import { Alarms } from "./alarms.ts";
import type { Bundles } from "./bundle.ts";
import { createHibpApiKey } from "./hibp-api-key.ts";
import { OnDemandWorkerFunction } from "./on-demand-worker.ts";
import { QueueWorkerFunction } from "./queue-worker.ts";
import { ServiceApi } from "./rest-api.ts";
import { ScheduledWorkerFunction } from "./scheduled-worker.ts";
import { findSender } from "./sender.ts";
import { ServiceFunction } from "./service-function.ts";
import { createTable, findTable } from "./table.ts";
import type { Resources } from "./uses.ts";
import { WorkQueue } from "./work-queue.ts";

export type ServiceStackProps = StackProps & {
  bundles: Bundles;
  /** Where alarms are sent; undefined: nowhere. */
  alarmEmail: string | undefined;
  /** What e-mail alerts come from: an address that SES has verified, or of a domain that it has. Undefined: none are sent. */
  senderEmail: string | undefined;
  /** An existing table to use; undefined: the stack makes its own. */
  tableName: string | undefined;
};

/** The whole service. What its functions are, may do and need to know comes from their contracts. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { bundles, alarmEmail, senderEmail, tableName, ...props }: ServiceStackProps,
  ) {
    super(scope, id, props);
    const alarms = new Alarms(this, "Alarms", { email: alarmEmail });

    // What functions use
    const table = tableName === undefined ? createTable(this) : findTable(this, tableName);
    const hibpSecretName = `${this.stackName}/hibp-api-key`;
    const hibpApiKey = createHibpApiKey(this, hibpSecretName);
    const scheduleGroup = new CfnScheduleGroup(this, "ScheduleGroup", {
      name: `${this.stackName}-${startScheduledScan.scheduleGroup}`,
    });
    const queues = Object.fromEntries(
      queueWorkers.map(({ worker }) => [worker.queue, new WorkQueue(this, worker, alarms).queue]),
    ) as Record<QueueName, Queue>;
    const sender = senderEmail === undefined ? undefined : findSender(senderEmail);
    const resources: Resources = { table, queues, hibpApiKey, scheduleGroup, sender };

    // Workers
    for (const { name, folder, worker } of queueWorkers) {
      new QueueWorkerFunction(this, { name, code: bundles(folder), worker, resources }, alarms);
    }
    for (const { name, folder, worker } of scheduledWorkers) {
      new ScheduledWorkerFunction(this, { name, code: bundles(folder), worker, resources }, alarms);
    }
    const scheduledScan = new OnDemandWorkerFunction(
      this,
      {
        name: "start-scheduled-scan",
        code: bundles("start-scheduled-scan"),
        worker: startScheduledScan,
        resources,
      },
      alarms,
    );

    // The API
    const createFunction = (
      name: string,
      contract: Pick<Endpoint, "uses" | "timeoutSeconds" | "memoryMegabytes">,
    ) => new ServiceFunction(this, { name, code: bundles(name), resources, ...contract }).function;
    const refuseRoute = createFunction("refuse-route", { uses: [] });
    refuseRoute.addEnvironment("DECLARED_METHODS", JSON.stringify(methodsByPath(routes)));
    const api = new ServiceApi(
      this,
      {
        routes: routes.map((route) => ({ route, function: createFunction(route.name, route.endpoint) })),
        authorize: createFunction("authorize", { uses: ["table:read", "table:limits"] }),
        refuseRoute,
      },
      alarms,
    );

    // What people and the admin command line ask for
    const outputs = {
      ApiUrl: api.url,
      TableName: table.tableName,
      ScanPlansQueueUrl: queues["scan-plans"].queueUrl,
      DeliveriesQueueUrl: queues.deliveries.queueUrl,
      HibpSecretName: hibpSecretName,
      ScheduleGroupName: scheduleGroup.ref,
      ScheduledScanFunctionArn: scheduledScan.function.functionArn,
      ScheduledScanRoleArn: scheduledScan.scheduleRoleArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

const methodsByPath = (all: readonly Route[]): Record<string, Method[]> => {
  const methods: Record<string, Method[]> = {};
  for (const { path, method } of all) methods[path] = [...(methods[path] ?? []), method];
  return methods;
};
