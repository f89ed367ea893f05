import { Aws, Duration, Fn, RemovalPolicy, Size, Validations } from "aws-cdk-lib";
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  type CfnAuthorizer,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  IpAddressType,
  type IResource,
  LogGroupLogDestination,
  type Method,
  RequestAuthorizer,
  RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Route } from "../shared/contract/endpoint.ts";
import type { Alarms } from "./alarms.ts";
import { addApiAlarms } from "./api-alarms.ts";
import { serveUnderDomain } from "./api-domain.ts";
import { FunctionIntegration } from "./function-integration.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import type { Options } from "./options.ts";
import { addWebAcl } from "./web-acl.ts";

/** A part of the API: the first segment of its paths, and each of its routes with the function of its endpoint. */
export type ApiPart = { name: string; routes: readonly { route: Route; function: IFunction }[] };

type ServiceApiProps = {
  name: string;
  parts: readonly ApiPart[];
  authorize: LambdaFunction;
  /** Answers every method and path that no route declares. */
  refuseRoute: IFunction;
  /** Answers what is under /app, and leads there from the root. */
  serveDashboard: IFunction;
  options: Options;
};

/** Without paths, query strings and headers, which hold ids, addresses and keys. */
const accessLogFormat = ({ trustedProxySecretSha256 }: Options): AccessLogFormat =>
  AccessLogFormat.custom(
    JSON.stringify({
      requestId: AccessLogField.contextRequestId(),
      // Clients can choose the other one.
      extendedRequestId: AccessLogField.contextExtendedRequestId(),
      time: AccessLogField.contextRequestTimeEpoch(),
      sourceIp: AccessLogField.contextIdentitySourceIp(),
      // As the authorizer says; "-" if the request did not come through the proxy, or not to the authorizer, or got 401.
      ...(trustedProxySecretSha256 !== undefined && {
        viewerAddress: AccessLogField.contextAuthorizer("viewerAddress"),
      }),
      method: AccessLogField.contextHttpMethod(),
      resource: AccessLogField.contextResourcePath(),
      status: AccessLogField.contextStatus(),
      latencyMilliseconds: AccessLogField.contextResponseLatency(),
      responseBytes: AccessLogField.contextResponseLength(),
      errorType: AccessLogField.contextErrorResponseType(),
    }),
  );

const stageName = "api";

/** What the page's function answers, for everybody. The root only leads to the page. */
const pagePaths = ["/app", "/app/{proxy+}"] as const;

/**
 * API Gateway applies the limits of a stage to each method by itself. These are those of methods that only refuse, and of every method
 * that names none of its own.
 */
const refusalsPerSecond = (requestsPerSecond: number): number => Math.max(0.2, requestsPerSecond / 25);

/** Browsers keep the page's files, and a request for the largest costs as much as 25 that the authorizer refuses. */
const filesPerSecond = (requestsPerSecond: number): number => requestsPerSecond / 2;

/** Two clients may each use up their 100 requests a minute at once. A burst adds nothing to what a day's flood costs. */
const burstOf = (requestsPerSecond: number): number =>
  Math.min(maximumBurst, Math.max(200, 2 * requestsPerSecond));

/** A first visit asks for thirty files, and after a deployment the visits of all people are first ones. Browsers keep the files. */
const burstOfPage = (requestsPerSecond: number): number =>
  Math.min(maximumBurst, 10 * burstOf(requestsPerSecond));

const limitsOf = (methods: readonly string[], rate: number, burst: number) =>
  Object.fromEntries(
    methods.map((method) => [method, { throttlingRateLimit: rate, throttlingBurstLimit: burst }]),
  );

/** API Gateway's own limit for all APIs of an account and region. */
const maximumBurst = 5_000;

/**
 * The REST API, with its parts at `<url>/api/<name>`. Every request below a part passes the authorizer, on any
 * path. Below `/api/app` is the dashboard's page, for everybody.
 */
export class ServiceApi extends Construct {
  /** `https://…/api` */
  readonly url: string;
  /** The host at which to point a name of its own. Undefined: it has none. */
  readonly domainTarget: string | undefined;

  constructor(
    scope: Construct,
    { name, parts, authorize, refuseRoute, serveDashboard, options }: ServiceApiProps,
    alarms: Alarms,
  ) {
    super(scope, "Api");

    const accessLogs = new LogGroup(this, "AccessLogs", {
      logGroupName: `/aws/apigateway/${name}`,
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const authorizer = new RequestAuthorizer(this, "Authorizer", {
      authorizerName: `${name}-authorize`,
      handler: authorize,
      // Without a cache a revoked key fails on the very next request. With identity sources API Gateway
      // itself would answer requests that lack them, and these would not be counted.
      resultsCacheTtl: Duration.seconds(0),
      identitySources: [],
    });
    // CDK writes an empty text, and a property that is not there is what API Gateway documents for no source.
    const cfnAuthorizer = authorizer.node.findChild("Resource") as CfnAuthorizer;
    cfnAuthorizer.addPropertyDeletionOverride("IdentitySource");
    const api = new RestApi(this, "RestApi", {
      restApiName: name,
      // Where clients have IPv6 addresses, one of them has very many: limits by address count its network (source-address.ts).
      endpointConfiguration: { types: [EndpointType.REGIONAL], ipAddressType: IpAddressType.IPV4 },
      binaryMediaTypes: ["multipart/form-data"],
      minCompressionSize: Size.kibibytes(1),
      // Access logs need API Gateway's role, which all stacks of an account share: it outlives each stack.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      defaultMethodOptions: { authorizer, authorizationType: AuthorizationType.CUSTOM },
      deployOptions: {
        stageName,
        // Traces of a stage would hold whole urls, and so the secrets of recipients' links.
        tracingEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: accessLogFormat(options),
        throttlingRateLimit: refusalsPerSecond(options.requestsPerSecond),
        throttlingBurstLimit: burstOf(options.requestsPerSecond),
        methodOptions: {
          ...limitsOf(
            parts.flatMap(({ name, routes }) =>
              routes.map(({ route }) => `/${name}${route.path}/${route.method}`),
            ),
            options.requestsPerSecond,
            burstOf(options.requestsPerSecond),
          ),
          ...limitsOf(
            pagePaths.map((path) => `${path}/GET`),
            filesPerSecond(options.requestsPerSecond),
            burstOfPage(options.requestsPerSecond),
          ),
        },
      },
    });
    // A regional API without a policy accepts TLS 1.0. This policy accepts TLS 1.2 and 1.3 with forward
    // secrecy, and post-quantum key exchange. TLS 1.3 alone would shut out clients that cannot be updated.
    const restApi = api.node.defaultChild as CfnRestApi;
    restApi.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
    restApi.endpointAccessMode = EndpointAccessMode.STRICT;
    // Removes CDK's own output, since `outputs` of the service has the path too.
    api.node.tryRemoveChild("Endpoint");
    addGatewayResponses(api, options);

    const functions = parts.flatMap(({ routes }) => routes.map((each) => each.function));
    const invoker = new Role(this, "Invoker", {
      description: "In which API Gateway invokes the functions of its methods",
      // Without a condition on `aws:SourceAccount`: API Gateway does not send it when it assumes the role of an integration.
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      inlinePolicies: {
        Invoke: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ["lambda:InvokeFunction"],
              resources: [...functions, refuseRoute, serveDashboard].map(({ functionArn }) => functionArn),
            }),
          ],
        }),
      },
    });
    const refusal = new FunctionIntegration(refuseRoute, invoker);
    for (const { name, routes } of parts) {
      const part = api.root.addResource(name);
      const resources = new Set<IResource>([part, part.addResource("{proxy+}")]);
      for (const { route, function: endpoint } of routes) {
        const resource = part.resourceForPath(route.path.slice(1));
        for (
          let each: IResource = resource;
          each !== part && each.parentResource;
          each = each.parentResource
        ) {
          resources.add(each);
        }
        resource.addMethod(route.method, new FunctionIntegration(endpoint, invoker));
      }
      for (const resource of resources) resource.addMethod("ANY", refusal);
    }

    const page = new FunctionIntegration(serveDashboard, invoker);
    const addPageMethod = (path: string, method: string): Method =>
      api.root.resourceForPath(path).addMethod(method, page, { authorizationType: AuthorizationType.NONE });
    const pageMethods = [
      ...["/", ...pagePaths].map((path) => addPageMethod(path, "ANY")),
      // By itself, because it has a limit of its own.
      ...pagePaths.map((path) => addPageMethod(path, "GET")),
    ];
    for (const method of pageMethods) {
      const reason = "The page holds no data, and is where people sign in";
      Validations.of(method).acknowledge(
        { id: "AwsSolutions-APIG4", reason },
        { id: "AwsSolutions-COG4", reason },
      );
    }

    const { domainName, certificateArn } = options;
    if (domainName !== undefined && certificateArn !== undefined)
      this.domainTarget = serveUnderDomain(api, domainName, certificateArn);
    // Not `api.url`, which waits for the stage: functions that are told this url are a part of it.
    const host = domainName ?? `${api.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    this.url = Fn.join("", [`https://${host}/${stageName}`]);
    addApiAlarms(api, accessLogs, authorize.logGroup, options, alarms);
    if (options.webAcl) addWebAcl(api, name);
    Validations.of(api).acknowledge(
      { id: "AwsSolutions-APIG2", reason: "The functions validate requests, so that errors name the field" },
      {
        id: "AwsSolutions-APIG3",
        reason: "A web ACL costs twice as much as an idle deployment: an option adds one",
      },
      {
        id: "AwsSolutions-APIG6",
        reason: "Execution logs would hold paths and query strings; access logs do not",
      },
      { id: "AwsSolutions-COG4", reason: "API keys and sessions are checked by our own authorizer" },
      {
        id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
        reason: "The account-wide role of API Gateway is meant to have exactly this policy",
      },
    );
  }
}
