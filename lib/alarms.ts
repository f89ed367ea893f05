import { Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type ILogGroup, QueryDefinition, QueryString, type QueryStringProps } from "aws-cdk-lib/aws-logs";
import { Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Options } from "./options.ts";

type AlarmsProps = {
  /** What the names of alarms, saved queries and metrics begin with. */
  name: string;
  set: Options["alarms"];
  /** Undefined: the alarms exist but notify nobody. */
  email: string | undefined;
};

type Definition = {
  name: string;
  /** What people notice rather than what broke, and where to look. */
  description: string;
  metric: IMetric;
  /** Whether the set `minimal` has it too. */
  isMinimal?: boolean;
} & Partial<Omit<AlarmProps, "metric">>;

/**
 * All alarms of the service. CloudWatch charges each metric that an alarm refers to. So one alarm watches a
 * metric of many functions. Its description names the saved query that names the function.
 */
export class Alarms extends Construct {
  readonly name: string;
  private readonly topic: Topic | undefined;
  private readonly set: Options["alarms"];

  constructor(scope: Construct, id: string, { name, set, email }: AlarmsProps) {
    super(scope, id);
    this.name = name;
    this.set = set;
    if (email === undefined) return;
    this.topic = new Topic(this, "Topic", { displayName: name, enforceSSL: true });
    // `enforceSSL` replaces SNS's default policy, which lets the account's alarms publish.
    this.topic.grantPublish(
      new ServicePrincipal("cloudwatch.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    new Subscription(this, "Email", {
      topic: this.topic,
      protocol: SubscriptionProtocol.EMAIL,
      endpoint: email,
    });
  }

  /**
   * Adds an alarm whose name is unique in the service. It goes off at the first occurrence unless the
   * definition says otherwise. It notifies when it goes off and when it is over.
   */
  add({ name, description, isMinimal = false, ...definition }: Definition): void {
    if (!this.has({ isMinimal })) return;
    const alarm = new Alarm(this, name, {
      alarmName: `${this.name}-${name}`,
      alarmDescription: description,
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...definition,
    });
    if (this.topic === undefined) return;
    const notify = new SnsAction(this.topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
  }

  /** Whether this deployment has such an alarm. Without it nothing is made that only the alarm looks at. */
  has({ isMinimal = false }: { isMinimal?: boolean }): boolean {
    return isMinimal || this.set === "all";
  }

  /** Saves a query of CloudWatch Logs Insights and returns its name, for the description of an alarm. */
  saveQuery(name: string, logGroups: ILogGroup[], query: QueryStringProps): string {
    const queryDefinitionName = `${this.name}/${name}`;
    const queryString = new QueryString(query);
    new QueryDefinition(this, `${name}-query`, { queryDefinitionName, logGroups, queryString });
    return queryDefinitionName;
  }
}
