/** How much of CloudFormation's 500 resources the stack takes, and how many endpoints it has room for. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { expect, test, vi } from "vitest";
import { readOptions } from "../../lib/options.ts";
import { ServiceStack } from "../../lib/service-stack.ts";
import type { Endpoint, Method, Route, Use } from "../../shared/contract/endpoint.ts";

const { extraEndpoints } = vi.hoisted(() => ({ extraEndpoints: 25 }));

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

test(`${extraEndpoints} more endpoints and all options fit into 450 resources`, () => {
  const directory = mkdtempSync(join(tmpdir(), "resources-test-"));
  try {
    const code = join(directory, "code");
    mkdirSync(code);
    writeFileSync(join(code, "index.js"), "");
    const outdir = join(directory, "cdk.out");
    const app = new App({ outdir });
    const context: Record<string, unknown> = {
      webAcl: "true",
      confirmRecipients: "true",
      trustedProxySecret: "/breach-monitor/staging/proxy-secret",
    };
    new ServiceStack(app, "full", {
      bundles: () => Code.fromAsset(code),
      options: readOptions((name) => context[name]),
      alarmEmail: "oncall@example.com",
      senderEmail: "alerts@mail.example.com",
      domain: {
        name: "breaches.example.com",
        certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
      },
      tableName: undefined,
    });
    app.synth();
    const { Resources } = JSON.parse(readFileSync(join(outdir, "full.template.json"), "utf8"));
    const functions = Object.values<{ Type: string; Properties: { FunctionName?: string } }>(Resources);
    expect(
      functions.filter(({ Properties }) => /^full-extra-/.test(Properties?.FunctionName ?? "")),
    ).toHaveLength(extraEndpoints);
    expect(Object.keys(Resources).length).toBeLessThanOrEqual(450);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
