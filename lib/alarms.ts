import { Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

const period = Duration.minutes(5);

/** Every alarm of the stack. Each goes off at the first occurrence, and says what people notice, not what broke. */
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

  onErrors(name: string, fn: IFunction, description: string): void {
    this.add(`${name}-errors`, fn.metricErrors({ period }), description);
  }

  onDeadLetters(name: string, queue: IQueue, description: string): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({ period, statistic: "Maximum" });
    this.add(`${name}-dead-letters`, metric, description);
  }

  /** `name` is unique in the stack. */
  add(name: string, metric: IMetric, description: string): void {
    const alarm = new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: description,
      metric,
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.topic));
  }
}
