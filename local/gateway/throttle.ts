/** The stage's limits of requests a second, which API Gateway applies to each method by itself. */
import type { Assembly } from "../template/assembly.ts";

type MethodSetting = {
  HttpMethod: string;
  /** With `~1` for each slash but the first: `/~1v1~1emails`. */
  ResourcePath: string;
  ThrottlingRateLimit?: number;
  ThrottlingBurstLimit?: number;
};

/** Of a method's requests: a token bucket holds as many as the burst, and gains as many a second as the rate. */
export type Limit = { requestsPerSecond: number; burst: number };

/**
 * Gives the limit of a method of a resource's path; undefined: none
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html).
 */
export const readLimits = (assembly: Assembly): ((path: string, method: string) => Limit | undefined) => {
  const [stage] = assembly.ofType<{ MethodSettings?: MethodSetting[] }>("AWS::ApiGateway::Stage");
  const settings = stage?.properties.MethodSettings ?? [];
  return (path, method) => {
    const own = settings.find(
      ({ HttpMethod, ResourcePath }) =>
        HttpMethod === method && (ResourcePath.slice(1).replaceAll("~1", "/") || "/") === path,
    );
    const setting = own ?? settings.find(({ HttpMethod }) => HttpMethod === "*");
    const { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst } = setting ?? {};
    return requestsPerSecond === undefined || burst === undefined ? undefined : { requestsPerSecond, burst };
  };
};

/** Gives what takes a request from the limit, and says whether there was one left. */
export const admitWithin = ({ requestsPerSecond, burst }: Limit): (() => boolean) => {
  let left = burst;
  let countedAt = performance.now();
  return () => {
    const now = performance.now();
    left = Math.min(burst, left + ((now - countedAt) / 1000) * requestsPerSecond);
    countedAt = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
};
