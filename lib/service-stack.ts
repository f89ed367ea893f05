import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { BreachMonitor, type BreachMonitorProps } from "./breach-monitor.ts";

/** A stack of the service alone, whose name all names begin with. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { service, ...props }: StackProps & { service: BreachMonitorProps },
  ) {
    super(scope, id, props);
    // CDK leaves the id "Default" out of logical ids.
    const { outputs } = new BreachMonitor(this, "Default", service);
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
