import { describe, expect, test } from "vitest";
import { openIam } from "../../../local/iam/iam.ts";
import { decide, type Statement } from "../../../local/iam/policy.ts";
import { openTemplate } from "../template.ts";

const table = "arn:aws:dynamodb:us-east-1:000000000000:table/t";
const allow = (more: Partial<Statement>): Statement => ({
  Effect: "Allow",
  Action: "dynamodb:GetItem",
  Resource: table,
  ...more,
});

describe("a decision", () => {
  const onTable = (statements: Statement[], action = "dynamodb:GetItem", resource = table) =>
    decide(statements, action, resource, {});

  test("needs an allow, and a deny wins in any position", () => {
    const deny: Statement = { Effect: "Deny", Action: "dynamodb:*", Resource: "*" };
    expect(onTable([])).toBe("no match");
    expect(onTable([allow({})])).toBe("allow");
    expect(onTable([allow({}), deny])).toBe("deny");
    expect(onTable([deny, allow({})])).toBe("deny");
  });

  test.each([
    ["dynamodb:getitem", "allow"],
    ["dynamodb:Get*", "allow"],
    ["dynamodb:?etItem", "allow"],
    ["*", "allow"],
    ["dynamodb:Get", "no match"],
    ["dynamodb:GetItem?", "no match"],
    ["dynamodb.GetItem", "no match"],
    ["sqs:*", "no match"],
  ])("action %s: %s", (Action, expected) => {
    expect(onTable([allow({ Action })])).toBe(expected);
  });

  test.each([
    [table, "allow"],
    ["arn:aws:dynamodb:*:*:table/*", "allow"],
    ["arn:aws:dynamodb:*:*:table/?", "allow"],
    [table.toUpperCase(), "no match"],
    [`${table}/index/*`, "no match"],
    [`${table}t`, "no match"],
    [table.replace("aws:", "aws."), "no match"],
  ])("resource %s: %s", (Resource, expected) => {
    expect(onTable([allow({ Resource })])).toBe(expected);
  });

  test.each([
    [{ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["A#*", "B"] } }, "A#1", "allow"],
    [{ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["A#*", "B"] } }, "C", "no match"],
    [{ "ForAllValues:StringNotLike": { "dynamodb:LeadingKeys": ["A#*", "B"] } }, "A#1", "no match"],
    [{ "ForAllValues:StringNotLike": { "dynamodb:LeadingKeys": ["A#*", "B"] } }, "C", "allow"],
    [{ "ForAllValues:StringNotLike": { "dynamodb:LeadingKeys": ["A#*"] } }, undefined, "allow"],
    [{ Null: { "dynamodb:LeadingKeys": "false" } }, undefined, "no match"],
    [{ Null: { "dynamodb:LeadingKeys": "false" } }, "A", "allow"],
    [{ Null: { "dynamodb:LeadingKeys": "true" } }, "A", "no match"],
    [{ "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["A", "B"] } }, ["A", "B"], "allow"],
    [{ "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["A", "B"] } }, ["A", "C"], "no match"],
    [{ "ForAnyValue:StringEquals": { "dynamodb:LeadingKeys": ["A", "B"] } }, ["A", "C"], "allow"],
    [{ "ForAnyValue:StringEquals": { "dynamodb:LeadingKeys": ["A"] } }, undefined, "no match"],
    [{ "ForAllValues:StringNotEquals": { "dynamodb:LeadingKeys": "C" } }, ["A", "C"], "no match"],
    [{ StringEquals: { "dynamodb:LeadingKeys": "A" } }, undefined, "no match"],
    [{ StringNotEquals: { "dynamodb:LeadingKeys": "A" } }, undefined, "allow"],
    [{ StringEqualsIfExists: { "dynamodb:LeadingKeys": "A" } }, undefined, "allow"],
    [{ StringEqualsIfExists: { "dynamodb:LeadingKeys": "A" } }, "B", "no match"],
    [{ StringEquals: { "dynamodb:LeadingKeys": "A*" } }, "A1", "no match"],
    [{ StringLike: { "dynamodb:LeadingKeys": "A*" } }, "A1", "allow"],
    [{ NumericEquals: { "dynamodb:LeadingKeys": "1" } }, "1", "no match"],
  ])("condition %j on key %s: %s", (Condition, key, expected) => {
    const context = key === undefined ? {} : { "dynamodb:LeadingKeys": key };
    expect(decide([allow({ Condition })], "dynamodb:GetItem", table, context)).toBe(expected);
  });

  test("on a table does not hold for its indexes", () => {
    expect(onTable([allow({})], "dynamodb:GetItem", `${table}/index/due`)).toBe("no match");
  });
});

describe("a function", () => {
  const role = (properties: object) => ({ Type: "AWS::IAM::Role", Properties: properties });
  const functionOf = (roleId: string) => ({
    Type: "AWS::Lambda::Function",
    Properties: { Role: { "Fn::GetAtt": [roleId, "Arn"] } },
  });
  const document = (Action: string) => ({ Statement: { Effect: "Allow", Action, Resource: "*" } });
  const assembly = openTemplate({
    Inline: role({ Policies: [{ PolicyDocument: document("dynamodb:GetItem") }] }),
    InlineFunction: functionOf("Inline"),
    Other: role({ Policies: [{ PolicyDocument: document("dynamodb:PutItem") }] }),
    OtherFunction: functionOf("Other"),
  });
  const iam = openIam(assembly);
  const may = (caller: string, action: string) =>
    iam.refusal(caller, { action, resources: [table] }) === undefined;

  test("may do what the policies of its own role allow, and no more", () => {
    expect(may("test-InlineFunction", "dynamodb:GetItem")).toBe(true);
    expect(may("test-InlineFunction", "dynamodb:Query")).toBe(false);
    expect(may("test-InlineFunction", "dynamodb:PutItem")).toBe(false);
    expect(may("test-OtherFunction", "dynamodb:PutItem")).toBe(true);
    expect(may("test-OtherFunction", "dynamodb:GetItem")).toBe(false);
  });
});
