/**
 * Takes the place of `@aws-sdk/middleware-endpoint-discovery` in the bundles. The DynamoDB client prepares for asking where
 * its endpoint is, and never asks.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};

export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;
