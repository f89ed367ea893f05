import { Aws } from "aws-cdk-lib";
import type { SpecRestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Throttle } from "./throttle.ts";

const windowSeconds = 300;

/**
 * How many requests an address may make within the window: less than an endpoint lets through, so that no
 * address alone shuts signing in.
 */
export const webAclLimit = ({ ratePerSecond }: Throttle): number =>
  Math.floor(0.9 * windowSeconds * ratePerSecond);

/**
 * A web ACL with one rule: an address with too many requests is blocked until it has asked less. Blocked requests
 * reach neither API Gateway's throttle, which all clients share, nor any function.
 */
export function addWebAcl(api: SpecRestApi, name: string, endpoint: Throttle): void {
  const visibilityConfig = {
    // Metrics of AWS WAF are free; samples would show paths and headers.
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
  };
  const acl = new CfnWebACL(api, "WebAcl", {
    name,
    description: `Limits the requests of each address to ${name}`,
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    visibilityConfig: { ...visibilityConfig, metricName: name },
    rules: [
      {
        name: "requests-of-an-address",
        priority: 0,
        action: { block: {} },
        statement: {
          rateBasedStatement: {
            aggregateKeyType: "IP",
            limit: webAclLimit(endpoint),
            evaluationWindowSec: windowSeconds,
          },
        },
        visibilityConfig: { ...visibilityConfig, metricName: `${name}-requests-of-an-address` },
      },
    ],
  });
  new CfnWebACLAssociation(api, "WebAclAssociation", {
    resourceArn:
      `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}::` +
      `/restapis/${api.restApiId}/stages/${api.deploymentStage.stageName}`,
    webAclArn: acl.attrArn,
  });
}
