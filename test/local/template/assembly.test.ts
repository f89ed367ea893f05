// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are placeholders of Fn::Sub.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openAssembly } from "../../../local/template/assembly.ts";

const directory = mkdtempSync(join(tmpdir(), "assembly-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

const open = (template: object, artifacts?: object) => {
  const stack = {
    type: "aws:cloudformation:stack",
    properties: { templateFile: "t.json", stackName: "shop" },
  };
  writeFileSync(
    join(directory, "manifest.json"),
    JSON.stringify({ artifacts: artifacts ?? { Shop: stack } }),
  );
  writeFileSync(join(directory, "t.json"), JSON.stringify(template));
  writeFileSync(
    join(directory, "Shop.assets.json"),
    JSON.stringify({ files: { abc: { source: { path: "asset.abc" } } } }),
  );
  return openAssembly(directory, { region: "eu-west-1", accountId: "000000000000" });
};

const template = {
  Resources: {
    Jobs: { Type: "AWS::SQS::Queue", Properties: {} },
    Named: { Type: "AWS::SQS::Queue", Properties: { QueueName: { "Fn::Sub": "${AWS::Region}-named" } } },
    Table: { Type: "AWS::DynamoDB::Table" },
    Api: { Type: "AWS::ApiGateway::RestApi" },
    Function: { Type: "AWS::Lambda::Function", Properties: { Code: { S3Key: "abc.zip" } } },
  },
  Outputs: {
    Table: { Value: { Ref: "Table" } },
  },
};

describe("an assembly", () => {
  const assembly = open(template);
  assembly.setQueueBaseUrl("http://127.0.0.1:1/000000000000/");
  assembly.setApiOrigin("http://127.0.0.1:2");

  test.each([
    [{ Ref: "Jobs" }, "http://127.0.0.1:1/000000000000/shop-Jobs"],
    [{ Ref: "Named" }, "http://127.0.0.1:1/000000000000/eu-west-1-named"],
    [{ "Fn::GetAtt": ["Named", "QueueName"] }, "eu-west-1-named"],
    [
      { "Fn::Join": ["", ["https://", { Ref: "Api" }, ".execute-api.eu-west-1.amazonaws.com/api/app"]] },
      "http://127.0.0.1:2/api/app",
    ],
    [{ "Fn::GetAtt": ["Table", "Arn"] }, "arn:aws:dynamodb:eu-west-1:000000000000:table/shop-Table"],
    [{ "Fn::Sub": "assets-${AWS::AccountId}/${Table}" }, "assets-000000000000/shop-Table"],
    [{ "Fn::Select": [1, { "Fn::Split": ["/", "a/b/c"] }] }, "b"],
    [{ Condition: { StringEquals: { a: "b" } } }, { Condition: { StringEquals: { a: "b" } } }],
  ])("resolves %j", (value, expected) => {
    expect(assembly.resolve(value)).toEqual(expected);
  });

  test("gives resources by their type, and the outputs", () => {
    expect(assembly.ofType("AWS::SQS::Queue").map(({ logicalId }) => logicalId)).toEqual(["Jobs", "Named"]);
    expect(assembly.outputs()).toEqual({ Table: "shop-Table" });
  });

  test("finds resources by ARN", () => {
    for (const logicalId of ["Jobs", "Table", "Function"]) {
      expect(assembly.logicalIdOf(assembly.arn(logicalId))).toBe(logicalId);
    }
    expect(assembly.logicalIdOf("arn:aws:sqs:eu-west-1:000000000000:other")).toBeUndefined();
  });

  test("finds the directory of code", () => {
    expect(assembly.assetDirectory("abc.zip")).toBe(join(directory, "asset.abc"));
  });

  test("names what it cannot resolve", () => {
    expect(() => assembly.resolve({ Ref: "Nothing" })).toThrow("no resource Nothing");
    expect(() => assembly.resolve({ "Fn::ImportValue": "a" })).toThrow("Fn::ImportValue");
    expect(() => assembly.assetDirectory("other.zip")).toThrow("no asset other.zip");
    expect(() => open({ ...template, Conditions: {} })).toThrow("no templates with conditions");
    expect(() => open(template, {})).toThrow("holds 0 stacks");
  });
});
