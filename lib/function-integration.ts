import { Aws } from "aws-cdk-lib";
import {
  Integration,
  type IntegrationConfig,
  IntegrationType,
  type Method,
} from "aws-cdk-lib/aws-apigateway";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";

/**
 * A function as what answers a method. API Gateway invokes it in a role, which all methods share; CDK's own
 * integration would make a permission, a resource of its own, for each function.
 */
export class FunctionIntegration extends Integration {
  private readonly functionName: string;

  constructor({ functionArn, functionName }: IFunction, invoker: IRole) {
    super({
      type: IntegrationType.AWS_PROXY,
      integrationHttpMethod: "POST",
      uri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${functionArn}/invocations`,
      options: { credentialsRole: invoker },
    });
    this.functionName = functionName;
  }

  /** The token makes a new deployment when a method leads to another function. */
  override bind(method: Method): IntegrationConfig {
    return { ...super.bind(method), deploymentToken: JSON.stringify({ functionName: this.functionName }) };
  }
}
