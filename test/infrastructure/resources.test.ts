/**
 * What AWS's limits leave for more endpoints: of resources, of sizes of the template, of policies and of environments.
 */
import { describe, expect, test, vi } from "vitest";
import type { Route, Use } from "../../shared/contract/endpoint.ts";
import type { Stack } from "./stacks.ts";

/** As those that there are: of five, two share a path, and one has permissions that no other function has. */
const invent = (count: number, { endpoint }: Route): Route[] => {
  const words: Use[] = ["queue:scan-lookups", "queue:scan-checks", "hibp", "email"];
  return Array.from({ length: count }, (_, at) => {
    const uses = words.filter((_word, bit) => ((at / 5 + 1) >> bit) & 1);
    const isSecond = at % 5 === 1;
    return {
      method: isSecond ? "PATCH" : "POST",
      path: `/invented-endpoints/{id}/number-${isSecond ? at - 1 : at}`,
      name: `invented-endpoint-${at}`,
      endpoint: at % 5 === 0 ? { ...endpoint, uses } : endpoint,
    };
  });
};

/** The stack with so many endpoints more, and with every option that adds resources. */
const withMoreEndpoints = async (count: number): Promise<Stack> => {
  vi.resetModules();
  vi.doMock("../../functions/dashboard-routes.ts", async (original) => {
    const { dashboardRoutes } = await original<{ dashboardRoutes: readonly Route[] }>();
    const usual = dashboardRoutes.find(({ name }) => name === "create-team") as Route;
    return { dashboardRoutes: [...dashboardRoutes, ...invent(count, usual)] };
  });
  const { synthesize } = await import("./stacks.ts");
  return synthesize("s".repeat(27), {
    alarmEmail: "oncall@example.com",
    senderEmail: "alerts@mail.example.com",
    domainName: "breaches.example.com",
    certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
    monthlyBudgetDollars: "50",
    webAcl: "true",
    confirmRecipients: "true",
    trustedProxySecretSha256: "0".repeat(64),
    oidcIssuer: "https://login.example.com",
    oidcClientId: "breach-monitor",
  });
};

const full = await withMoreEndpoints(0);
const larger = await withMoreEndpoints(60);
const propertiesOf = <P>(type: string): P[] => larger.ofType<P>(type).map(({ properties }) => properties);

test("the stack has at most 250 resources, with every option", () => {
  expect(full.resources.length).toBeLessThanOrEqual(250);
});

describe("with 60 more endpoints", () => {
  test("each has its function; there are at most 350 resources", () => {
    const functions = propertiesOf<{ FunctionName: string }>("AWS::Lambda::Function");
    expect(functions.filter(({ FunctionName }) => FunctionName.includes("invented-endpoint-"))).toHaveLength(
      60,
    );
    expect(larger.resources.length).toBeLessThanOrEqual(350);
  });

  test("the template has less than a million bytes", () => {
    // CDK writes it with one space for each level.
    expect(JSON.stringify(larger.template, undefined, 1).length).toBeLessThan(1_000_000);
  });

  test("policies of roles and environments of functions fit", () => {
    for (const { Policies = [] } of propertiesOf<{ Policies?: { PolicyDocument: object }[] }>(
      "AWS::IAM::Role",
    )) {
      const written = Policies.map(({ PolicyDocument }) => JSON.stringify(PolicyDocument)).join("");
      expect(written.replaceAll(/\s/g, "").length).toBeLessThanOrEqual(10_240);
    }
    type Function = { FunctionName: string; Environment: { Variables: Record<string, string> } };
    for (const { FunctionName, Environment } of propertiesOf<Function>("AWS::Lambda::Function"))
      expect(JSON.stringify(Environment.Variables).length, FunctionName).toBeLessThan(4_096);
  });
});

test("a new route makes a new deployment, and the same routes do not", async () => {
  const deploymentOf = (stack: Stack) => stack.ofType("AWS::ApiGateway::Deployment")[0]?.logicalId;
  expect(deploymentOf(full)).toBeDefined();
  expect(deploymentOf(larger)).not.toBe(deploymentOf(full));
  expect(deploymentOf(await withMoreEndpoints(0))).toBe(deploymentOf(full));
});
