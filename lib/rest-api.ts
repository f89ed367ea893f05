import { Duration, Fn, RemovalPolicy, Size, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  RequestAuthorizer,
  RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Route } from "../shared/api/endpoint.ts";
import type { Alarms } from "./alarms.ts";
import { addGatewayResponses } from "./gateway-responses.ts";

type ServiceApiProps = {
  /** Each route and the function of its endpoint. */
  routes: readonly { route: Route; function: IFunction }[];
  authorize: IFunction;
  /** Answers every method and path that no route declares. */
  refuseRoute: IFunction;
};

/** Neither paths nor query strings nor headers: they hold ids, addresses and keys. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    time: AccessLogField.contextRequestTimeEpoch(),
    sourceIp: AccessLogField.contextIdentitySourceIp(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    latencyMilliseconds: AccessLogField.contextResponseLatency(),
    responseBytes: AccessLogField.contextResponseLength(),
    errorType: AccessLogField.contextErrorResponseType(),
  }),
);

/** The REST API, at `<url>/api/v1`: every request under it passes the authorizer, whether a route declares it or not. */
export class ServiceApi extends Construct {
  /** `https://…/api/v1` */
  readonly url: string;

  constructor(scope: Construct, { routes, authorize, refuseRoute }: ServiceApiProps, alarms: Alarms) {
    super(scope, "Api");
    const { stackName } = Stack.of(this);

    const accessLogs = new LogGroup(this, "AccessLogs", {
      logGroupName: `/aws/apigateway/${stackName}`,
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const authorizer = new RequestAuthorizer(this, "Authorizer", {
      authorizerName: `${stackName}-authorize`,
      handler: authorize,
      // A revoked key fails on the very next request. And with identity sources API Gateway itself would answer requests
      // without them, so that nobody counted those.
      resultsCacheTtl: Duration.seconds(0),
      identitySources: [],
    });
    const api = new RestApi(this, "RestApi", {
      restApiName: stackName,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: ["multipart/form-data"],
      minCompressionSize: Size.kibibytes(1),
      // Access logs need the account's API Gateway role. It is one for all stacks of the account and outlives each of them.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      defaultMethodOptions: { authorizer, authorizationType: AuthorizationType.CUSTOM },
      deployOptions: {
        stageName: "api",
        tracingEnabled: true,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat,
        throttlingRateLimit: 500,
        throttlingBurstLimit: 1000,
      },
    });
    // Without a policy a regional API takes TLS 1.0. This one takes 1.2 and 1.3, with forward secrecy only, and post-quantum
    // key exchange; 1.3 alone would shut out clients that cannot be updated.
    const restApi = api.node.defaultChild as CfnRestApi;
    restApi.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
    restApi.endpointAccessMode = EndpointAccessMode.STRICT;
    // CDK's own output; the stack has a better one.
    api.node.tryRemoveChild("Endpoint");
    addGatewayResponses(api);

    const v1 = api.root.addResource("v1");
    const refusal = new LambdaIntegration(refuseRoute, { scopePermissionToMethod: false });
    const resources = new Set<IResource>([v1, v1.addResource("{proxy+}")]);
    for (const { route, function: endpoint } of routes) {
      const resource = v1.resourceForPath(route.path.slice(1));
      for (let each: IResource = resource; each !== v1 && each.parentResource; each = each.parentResource) {
        resources.add(each);
      }
      resource.addMethod(route.method, new LambdaIntegration(endpoint, { allowTestInvoke: false }));
    }
    for (const resource of resources) resource.addMethod("ANY", refusal);

    this.url = Fn.join("", [api.url, "v1"]);
    alarms.add(
      "api-server-errors",
      api.metricServerError({ period: Duration.minutes(5), statistic: "Sum" }),
      "Clients get 500 answers",
    );
    Validations.of(api).acknowledge(
      { id: "AwsSolutions-APIG2", reason: "The functions validate, so that errors name the field" },
      {
        id: "AwsSolutions-APIG3",
        reason: "A web ACL costs more than an idle deployment; whoever wants one attaches it to the stage",
      },
      {
        id: "AwsSolutions-APIG6",
        reason:
          "Execution logs would hold paths and query strings; access logs and traces tell of every request",
      },
      { id: "AwsSolutions-COG4", reason: "API keys and sessions are checked by our own authorizer" },
      {
        id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
        reason: "The account-wide role of API Gateway is meant to have exactly this policy",
      },
    );
  }
}
