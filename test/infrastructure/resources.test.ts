/** How much of CloudFormation's 500 resources the stack takes, and how many endpoints it has room for. */
import { expect, test, vi } from "vitest";
import type { Endpoint, Method, Route, Use } from "../../shared/contract/endpoint.ts";
import { functionsOf, synthesize } from "./stacks.ts";

/** As many as a later release may add before the service has to be more than one stack. */
const { extraEndpoints } = vi.hoisted(() => ({ extraEndpoints: 3 }));

/** As those that there are: of five, two share a path, and one has permissions that no other function has. */
vi.mock("../../functions/dashboard-routes.ts", async (original) => {
  const { dashboardRoutes } = await original<{ dashboardRoutes: readonly Route[] }>();
  const { endpoint } = dashboardRoutes.find(({ name }) => name === "create-team") as Route;
  const extra = Array.from({ length: extraEndpoints }, (_, at) => {
    const uses: Use[] = ["queue:scan-lookups", "queue:scan-checks", "queue:scan-plans", "hibp", "email"];
    const own: Endpoint = { ...endpoint, uses: uses.slice(at / 5) };
    const isSecond = at % 5 === 1;
    const method: Method = isSecond ? "PATCH" : "POST";
    return {
      method,
      path: `/extra-${isSecond ? at - 1 : at}`,
      name: `extra-${at}`,
      endpoint: at % 5 === 0 ? own : endpoint,
    };
  });
  return { dashboardRoutes: [...dashboardRoutes, ...extra] };
});

test(`with ${extraEndpoints} more endpoints the stack has at most 450 resources`, () => {
  const full = synthesize("full", {
    alarmEmail: "oncall@example.com",
    senderEmail: "alerts@mail.example.com",
    domainName: "breaches.example.com",
    certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
    webAcl: "true",
    confirmRecipients: "true",
    trustedProxySecretSha256: "0".repeat(64),
    oidcIssuer: "https://login.example.com",
    oidcClientId: "breach-monitor",
  });
  const extra = [...functionsOf(full).keys()].filter((name) => name.startsWith("extra-"));
  expect(extra).toHaveLength(extraEndpoints);
  expect(full.resources.length).toBeLessThanOrEqual(450);
});
