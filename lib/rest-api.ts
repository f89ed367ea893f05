import { Aws, Fn, RemovalPolicy, Size, Validations } from "aws-cdk-lib";
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  IpAddressType,
  LogGroupLogDestination,
  SecurityPolicy,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { askedBy } from "../shared/contract/endpoint.ts";
import type { Alarms } from "./alarms.ts";
import { addApiAlarms } from "./api-alarms.ts";
import { type ApiFunctions, apiDefinition, pagePaths, scimMethods, scimPath } from "./api-definition.ts";
import { serveUnderDomain } from "./api-domain.ts";
import type { Options } from "./options.ts";
import { functionArn, type ServiceFunction } from "./service-function.ts";
import { type Throttle, throttlesOf } from "./throttle.ts";
import { addWebAcl } from "./web-acl.ts";

type ServiceApiProps = ApiFunctions & {
  name: string;
  /** Functions that API Gateway may not invoke. */
  workers: readonly ServiceFunction[];
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
      // As the authorizer says; "-" if the request did not come through the proxy, or not to the authorizer,
      // or got 401.
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

const methodOptions = (methods: readonly string[], { ratePerSecond, burst }: Throttle) =>
  Object.fromEntries(
    methods.map((method) => [method, { throttlingRateLimit: ratePerSecond, throttlingBurstLimit: burst }]),
  );

/**
 * The REST API, with its parts at `<url>/api/<name>`. Every request below a part passes the authorizer, on any
 * path. Below `/api/app` is the dashboard's page, for everybody.
 */
export class ServiceApi extends Construct {
  /** `https://…/api` */
  readonly url: string;
  /** The host at which to point a name of its own. Undefined: it has none. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, props: ServiceApiProps, alarms: Alarms) {
    super(scope, id);
    const { name, options, workers, ...functions } = props;
    const { parts, authorize, refuseRoute, serveDashboard, scim } = functions;
    const throttles = throttlesOf(options.requestsPerSecond);

    const accessLogs = new LogGroup(this, "AccessLogs", {
      logGroupName: `/aws/apigateway/${name}`,
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const invoker = this.createInvoker(`${name}-*`, workers);
    const endpoints = parts.flatMap(({ routes }) => routes.map((each) => each.function));
    const api = new SpecRestApi(this, "RestApi", {
      restApiName: name,
      apiDefinition: ApiDefinition.fromInline(apiDefinition(name, functions, invoker.roleArn, options)),
      // Where clients have IPv6 addresses, one of them has very many: limits by address count its network
      // (source-address.ts).
      endpointConfiguration: { types: [EndpointType.REGIONAL], ipAddressType: IpAddressType.IPV4 },
      // The import itself asks for the type here.
      parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
      binaryMediaTypes: ["multipart/form-data"],
      minCompressionSize: Size.kibibytes(1),
      // Access logs need API Gateway's role, which all stacks of an account share: it outlives each stack.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName,
        // Traces of a stage would hold whole urls, and so the secrets of recipients' links.
        tracingEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: accessLogFormat(options),
        throttlingRateLimit: throttles.refusal.ratePerSecond,
        throttlingBurstLimit: throttles.refusal.burst,
        // API Gateway applies the limits of the stage to each method by itself. They hold for methods without
        // limits of their own.
        methodOptions: Object.assign(
          methodOptions(
            pagePaths.map((path) => `${path}/GET`),
            throttles.page,
          ),
          methodOptions(
            scimMethods.map((method) => `${scimPath}/${method}`),
            throttles.scim,
          ),
          ...parts.map(({ name, routes }) =>
            methodOptions(
              routes.flatMap(({ route }) =>
                askedBy(route).map((method) => `/${name}${route.path}/${method}`),
              ),
              throttles[name],
            ),
          ),
        ),
      },
    });
    // The definition names functions by their ARNs alone: they are told the API's url, and so wait for it.
    for (const each of [...endpoints, authorize, refuseRoute, serveDashboard, scim])
      api.latestDeployment?.node.addDependency(each.function);
    // A regional API without a policy accepts TLS 1.0. This policy accepts TLS 1.2 and 1.3 with forward
    // secrecy, and post-quantum key exchange. TLS 1.3 alone would shut out clients that cannot be updated.
    const restApi = api.node.defaultChild as CfnRestApi;
    restApi.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
    restApi.endpointAccessMode = EndpointAccessMode.STRICT;
    // Removes CDK's own output, since `outputs` of the service has the path too.
    api.node.tryRemoveChild("Endpoint");

    const { domainName, certificateArn } = options;
    if (domainName !== undefined && certificateArn !== undefined)
      this.domainTarget = serveUnderDomain(api, domainName, certificateArn);
    // Not `api.url`, which waits for the stage: functions that are told this url are a part of it.
    const host = domainName ?? `${api.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    this.url = Fn.join("", [`https://${host}/${stageName}`]);
    addApiAlarms(api, accessLogs, authorize.logGroup, options, alarms);
    if (options.webAcl) addWebAcl(api, name, throttles.dashboard);
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
      {
        id:
          "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/" +
          "service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
        reason: "The account-wide role of API Gateway is meant to have exactly this policy",
      },
    );
  }

  /**
   * The role in which API Gateway invokes the functions of this service that are not workers. Their names would fill
   * the 10,240 characters that policies of a role may have.
   */
  private createInvoker(functionNames: string, workers: readonly ServiceFunction[]): Role {
    const actions = ["lambda:InvokeFunction"];
    const invoker = new Role(this, "Invoker", {
      description: "In which API Gateway invokes the authorizer and the functions of its methods",
      // Without a condition on `aws:SourceAccount`: API Gateway does not send it when it assumes the role of
      // an integration.
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      inlinePolicies: {
        Invoke: new PolicyDocument({
          statements: [
            new PolicyStatement({ actions, resources: [functionArn(functionNames)] }),
            new PolicyStatement({ effect: Effect.DENY, actions, resources: workers.map(({ arn }) => arn) }),
          ],
        }),
      },
    });
    Validations.of(invoker).acknowledge({
      id:
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:" +
        `function:${functionNames}]`,
      reason:
        "All functions of the service begin with its name, and those that the API may not invoke are denied",
    });
    return invoker;
  }
}
