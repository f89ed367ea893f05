/**
 * Replaces `@aws-sdk/middleware-endpoint-discovery` in the bundles. The DynamoDB client sets endpoint
 * discovery up but never uses it.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};

export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;
