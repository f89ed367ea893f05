/** What tells that AWS lets through less than is asked for. */
import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { Alarms } from "./alarms.ts";

/** The large first scan of a new table is throttled for a few minutes, which is as it should be. */
const throttledPeriods = 3;

export function addThrottleAlarms(table: Pick<ITable, "tableName">, alarms: Alarms): void {
  const period = Duration.minutes(5);
  alarms.add({
    name: "table-throttled",
    description: `Scans take longer, and the API may answer 503: DynamoDB has refused writes of table ${table.tableName} for 15 minutes`,
    metric: new Metric({
      namespace: "AWS/DynamoDB",
      metricName: "WriteThrottleEvents",
      dimensionsMap: { TableName: table.tableName },
      statistic: "Sum",
      period,
    }),
    evaluationPeriods: throttledPeriods,
  });
  alarms.add({
    name: "lambda-throttled",
    description:
      "Requests may fail and work may be late: the functions of this account and region, of other stacks too, use up its concurrent executions",
    // Without a dimension it counts every function of the account, because all of them share one limit.
    metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "Sum", period }),
  });
}
