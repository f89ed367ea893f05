import { RemovalPolicy } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { breachIndex, dueIndex, timeToLive } from "../shared/aws/table/keys.ts";
import type { Options } from "./options.ts";

/**
 * Creates the single table (keys: shared/aws/table/keys.ts). It outlives its stack: deleting it takes two
 * deliberate steps.
 */
export function createTable(scope: Construct, encryption: Options["tableEncryption"]): Table {
  const table = new Table(scope, "Table", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    sortKey: { name: "sk", type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: encryption === "aws-managed" ? TableEncryption.AWS_MANAGED : TableEncryption.DEFAULT,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
    timeToLiveAttribute: timeToLive,
  });
  table.addGlobalSecondaryIndex({
    indexName: dueIndex.name,
    partitionKey: { name: dueIndex.partition, type: AttributeType.STRING },
    sortKey: { name: dueIndex.sort, type: AttributeType.STRING },
    projectionType: ProjectionType.KEYS_ONLY,
  });
  table.addGlobalSecondaryIndex({
    indexName: breachIndex.name,
    partitionKey: { name: breachIndex.partition, type: AttributeType.STRING },
    sortKey: { name: breachIndex.sort, type: AttributeType.NUMBER },
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: ["group"],
  });
  return table;
}

/**
 * Refers to an existing table: a restored backup, which is always a new table, or a table that a deleted
 * stack left behind. Its settings stay as they are.
 */
export function findTable(scope: Construct, tableName: string): ITable {
  return Table.fromTableName(scope, "Table", tableName);
}
