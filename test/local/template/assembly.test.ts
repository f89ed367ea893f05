/**
 * What a local run refuses of an assembly. That it reads the service's own, the tests of the template and of
 * the running service show.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAssembly } from "../../../local/template/assembly.ts";
import { openTemplate } from "../template.ts";

const queue = { Type: "AWS::SQS::Queue", Properties: {} };

test("Fn::Sub, Fn::Select and Fn::Split give what CloudFormation gives", () => {
  const { resolve } = openTemplate({ Jobs: queue });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of Fn::Sub
  expect(resolve({ "Fn::Sub": "${AWS::Region}" })).toBe("us-east-1");
  expect(resolve({ "Fn::Select": [1, { "Fn::Split": ["/", "a/b/c"] }] })).toBe("b");
});

test("what cannot be resolved is named", () => {
  const assembly = openTemplate({ Jobs: queue });
  expect(() => assembly.resolve({ Ref: "Nothing" })).toThrow("no resource Nothing");
  expect(() => assembly.resolve({ "Fn::ImportValue": "a" })).toThrow("Fn::ImportValue");
  expect(() => assembly.assetDirectory("other.zip")).toThrow("no asset other.zip");
  expect(assembly.logicalIdOf("arn:aws:sqs:us-east-1:000000000000:other")).toBeUndefined();
});

test("a template with conditions, or another number of stacks than one, is refused", () => {
  const directory = mkdtempSync(join(tmpdir(), "assembly-test-"));
  const open = (artifacts: object, template: object) => {
    writeFileSync(join(directory, "manifest.json"), JSON.stringify({ artifacts }));
    writeFileSync(join(directory, "t.json"), JSON.stringify(template));
    writeFileSync(join(directory, "Shop.assets.json"), JSON.stringify({ files: {} }));
    return openAssembly(directory, { region: "eu-west-1", accountId: "000000000000" });
  };
  const properties = { templateFile: "t.json", stackName: "shop" };
  const stack = { type: "aws:cloudformation:stack", properties };
  expect(() => open({ Shop: stack }, { Resources: {}, Conditions: {} })).toThrow(
    "no templates with conditions",
  );
  expect(() => open({}, { Resources: {} })).toThrow("holds 0 stacks");
  rmSync(directory, { recursive: true });
});
