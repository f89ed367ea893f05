import { Aws } from "aws-cdk-lib";
import type { SpecRestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { perMinuteOfDirectories } from "../shared/contract/limits.ts";
import type { Throttle } from "./throttle.ts";

const windowSeconds = 300;

/**
 * How many requests an address may make within the window: less than an endpoint lets through, so that no
 * address alone shuts signing in.
 */
export const webAclLimit = ({ ratePerSecond }: Throttle): number =>
  Math.floor(0.9 * windowSeconds * ratePerSecond);

/** Directories of several organizations may share an address, such as Entra's: more than one of them ever sends. */
const directoryLimit = Math.floor(1.2 * 5 * perMinuteOfDirectories.directory);

/** Of the request's path. */
const isOfDirectories = {
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    positionalConstraint: "STARTS_WITH",
    searchString: "/api/scim/",
    textTransformations: [{ priority: 0, type: "NONE" }],
  },
};

/**
 * A web ACL that blocks an address with too many requests until it has asked less. Those of directories, which
 * come from few addresses, have a limit of their own. Blocked requests reach neither API Gateway's throttle, which
 * all clients share, nor any function.
 */
export function addWebAcl(api: SpecRestApi, name: string, endpoint: Throttle): void {
  const visibilityConfig = {
    // Metrics of AWS WAF are free; samples would show paths and headers.
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
  };
  const rule = (ruleName: string, priority: number, limit: number, scopeDownStatement: object) => ({
    name: ruleName,
    priority,
    action: { block: {} },
    statement: {
      rateBasedStatement: {
        aggregateKeyType: "IP",
        limit,
        evaluationWindowSec: windowSeconds,
        scopeDownStatement,
      },
    },
    visibilityConfig: { ...visibilityConfig, metricName: `${name}-${ruleName}` },
  });
  const acl = new CfnWebACL(api, "WebAcl", {
    name,
    description: `Limits the requests of each address to ${name}`,
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    visibilityConfig: { ...visibilityConfig, metricName: name },
    rules: [
      rule("requests-of-an-address", 0, webAclLimit(endpoint), {
        notStatement: { statement: isOfDirectories },
      }),
      rule("requests-of-directories", 1, directoryLimit, isOfDirectories),
    ],
  });
  new CfnWebACLAssociation(api, "WebAclAssociation", {
    resourceArn:
      `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}::` +
      `/restapis/${api.restApiId}/stages/${api.deploymentStage.stageName}`,
    webAclArn: acl.attrArn,
  });
}
