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
 * All alarms of the stack. An alarm goes off at the first occurrence, and its description says what users
 * notice rather than what broke. It notifies when it goes off and when it is over.
 */
export class Alarms extends Construct {
  private readonly topic: Topic | undefined;

  /** Without an e-mail address the alarms exist but notify nobody. */
  constructor(scope: Construct, id: string, { email }: { email: string | undefined }) {
    super(scope, id);
    if (email === undefined) return;
    this.topic = new Topic(this, "Topic", { displayName: Stack.of(this).stackName, enforceSSL: true });
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

  /** `over` must be longer than the time between two runs, or the alarm ends between two failures. */
  onErrors(name: string, fn: IFunction, description: string, over = period): void {
    this.add(`${name}-errors`, fn.metricErrors({ period: over }), description);
  }

  /** Goes off when a function has not run within `over`, for whatever reason. */
  onNotRunning(name: string, fn: IFunction, description: string, over: Duration): void {
    this.add(`${name}-not-running`, fn.metricInvocations({ period: over }), description, {
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /**
   * Goes off when Lambda drops an event of Scheduler, because the function failed or was throttled too long.
   */
  onDropped(name: string, fn: IFunction, description: string, over: Duration): void {
    const metric = fn.metric("AsyncEventsDropped", { statistic: "Sum", period: over });
    this.add(`${name}-dropped`, metric, description);
  }

  onDeadLetters(name: string, queue: IQueue, description: string): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({ period, statistic: "Maximum" });
    this.add(`${name}-dead-letters`, metric, description);
  }

  /**
   * Adds an alarm whose `name` is unique in the stack. It goes off above 0 unless `options` say otherwise.
   */
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
