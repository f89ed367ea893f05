/** The service as a part of somebody else's app: twice in one stack, beside their own resources. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, CfnOutput, NestedStack, Stack, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, expect, test } from "vitest";
import { BreachMonitor } from "../../lib/breach-monitor.ts";
import type { Options } from "../../lib/options.ts";
import { noCode } from "./stacks.ts";

const options: Partial<Options> = {
  alarmEmail: "oncall@example.com",
  senderEmail: "alerts@mail.example.com",
  monthlyBudgetDollars: 50,
  webAcl: true,
  oidcIssuer: "https://acme.okta.com",
  oidcClientId: "0oa1b2c3",
};

class PlatformStack extends Stack {
  readonly staff: BreachMonitor;
  readonly customers: BreachMonitor;
  readonly inner: NestedStack;

  constructor(app: App, id: string) {
    super(app, id);
    new Topic(this, "Alarms", { enforceSSL: true });
    this.staff = new BreachMonitor(this, "Staff", { bundles: noCode, name: "staff", ...options });
    this.inner = new NestedStack(this, "Inner");
    this.customers = new BreachMonitor(this.inner, "Monitor", {
      bundles: noCode,
      name: "Customers",
      ...options,
    });
    for (const [name, value] of Object.entries(this.customers.outputs)) {
      new CfnOutput(this.inner, name, { value });
    }
  }
}

const outdir = mkdtempSync(join(tmpdir(), "construct-"));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const app = new App({ outdir });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const platform = new PlatformStack(app, "Platform");
app.synth();
const [staff, customers] = [platform, platform.inner].map((stack) => Template.fromStack(stack).toJSON());

/** The names that a template gives, each with the type of what has it. */
const namesIn = ({ Resources }: Record<string, Record<string, { Type: string; Properties?: object }>>) =>
  Object.values(Resources ?? {}).flatMap(({ Type, Properties = {} }) =>
    Object.entries(Properties)
      // An API's stage has the name that is in every url, and metrics are in a namespace.
      .filter(([key, value]) => /(?<!Stage|Metric)Name$/.test(key) && typeof value === "string")
      .map(([, name]) => `${Type} ${name}`),
  );

test("two services in one stack share no name, and none has a name of its stack's", () => {
  const [ours, theirs] = [namesIn(staff ?? {}), namesIn(customers ?? {})];
  expect(ours.length).toBeGreaterThan(100);
  expect(ours.filter((name) => theirs.includes(name))).toEqual([]);
  expect(theirs.filter((name) => !/ (?:\/aws\/\w+\/)?Customers(?:[-/]|$)/.test(name))).toEqual([]);
  expect(JSON.stringify(customers)).not.toMatch(/staff/);
  expect(JSON.stringify(staff)).not.toMatch(/Customers-/);
});

test("two services in one stack keep their secrets at different places", () => {
  const [ours, theirs] = [platform.staff.outputs, platform.customers.outputs];
  for (const name of ["HibpApiKeyParameter", "ChannelKeyParameter", "OidcClientSecretParameter"]) {
    expect(ours[name]).toContain("staff");
    expect(ours[name]).not.toBe(theirs[name]);
  }
});

test("a stack exports nothing, and has the outputs that whoever made it chose", () => {
  expect(staff?.Outputs).toBeUndefined();
  expect(Object.keys(customers?.Outputs).sort()).toEqual(Object.keys(platform.customers.outputs).sort());
  expect(JSON.stringify(customers?.Outputs)).not.toContain("Export");
});

test.each(["", "-a", "a b", "a".repeat(43)])("the name %o is refused", (name) => {
  const stack = new Stack(new App({ outdir: join(outdir, "refused") }), "Refused");
  expect(() => new BreachMonitor(stack, "Monitor", { bundles: noCode, name })).toThrow(/^The name must be/);
});

test.each([
  [{ requestsPerSecond: -1 }, /^requestsPerSecond must be a whole number/],
  [{ oidcIssuer: "https://acme.okta.com" }, /^oidcIssuer needs oidcClientId too/],
])("the props %o are refused as context values are", (props, sentence) => {
  const stack = new Stack(new App({ outdir: join(outdir, "refused") }), "Refused");
  expect(() => new BreachMonitor(stack, "Monitor", { bundles: noCode, ...props })).toThrow(sentence);
});

test("a nested stack, whose own name nobody knows before it is there, needs a name", () => {
  const stack = new NestedStack(new Stack(new App({ outdir: join(outdir, "refused") }), "Outer"), "Inner");
  expect(() => new BreachMonitor(stack, "Monitor", { bundles: noCode })).toThrow(/^The name must be/);
});
