import { Duration, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

const period = Duration.minutes(5);

/**
 * Every alarm of the stack. Each goes off at the first occurrence, says what people notice, not what broke, and announces
 * when it is over.
 */
export class Alarms extends Construct {
  private readonly topic: Topic | undefined;

  /** Without an e-mail address the alarms notify nobody. */
  constructor(scope: Construct, id: string, { email }: { email: string | undefined }) {
    super(scope, id);
    if (email === undefined) return;
    this.topic = new Topic(this, "Topic", { displayName: Stack.of(this).stackName, enforceSSL: true });
    // enforceSSL gives the topic a policy, and with it goes SNS's default that lets the account's alarms publish.
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

  /** `over` is longer than the time between two runs, or else the alarm goes off and on while every run fails. */
  onErrors(name: string, fn: IFunction, description: string, over = period): void {
    this.add(`${name}-errors`, fn.metricErrors({ period: over }), description);
  }

  /** Of a function that has to run within every `over`: whatever keeps it from that. */
  onNotRunning(name: string, fn: IFunction, description: string, over: Duration): void {
    this.add(`${name}-not-running`, fn.metricInvocations({ period: over }), description, {
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /** Of a function that Scheduler invokes: events that Lambda gave up, since the function failed or was throttled too long. */
  onDropped(name: string, fn: IFunction, description: string, over: Duration): void {
    const metric = fn.metric("AsyncEventsDropped", { statistic: "Sum", period: over });
    this.add(`${name}-dropped`, metric, description);
  }

  onDeadLetters(name: string, queue: IQueue, description: string): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({ period, statistic: "Maximum" });
    this.add(`${name}-dead-letters`, metric, description);
  }

  /** `name` is unique in the stack. Goes off above 0 unless `options` say otherwise. */
  add(name: string, metric: IMetric, description: string, options: Partial<AlarmProps> = {}): void {
    const alarm = new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: description,
      metric,
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...options,
    });
    if (this.topic === undefined) return;
    const notify = new SnsAction(this.topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
  }
}
