/**
 * CloudFormation's functions. One that is not listed here is refused, not guessed.
 *
 * This module and those of names, ARNs and references import each other: a name may be a function's result,
 * and a function may ask for a name.
 */
import { attributeOf, noValue, referenceTo } from "./references.ts";
import { awsApiOrigin, type Stack } from "./stack.ts";

/** A template value with its references and functions resolved; undefined for `AWS::NoValue`. */
export const resolve = (stack: Stack, value: unknown): unknown => {
  const resolved = resolveOrNoValue(stack, value);
  return resolved === noValue ? undefined : resolved;
};

/** Whether a condition of the template holds. Throws for an unknown one. */
export const holds = (stack: Stack, condition: string): boolean => {
  const expression = stack.template.Conditions?.[condition];
  if (expression === undefined) throw new Error(`The template has no condition ${condition}`);
  return resolve(stack, expression) === true;
};

const resolveOrNoValue = (stack: Stack, value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map((item) => resolveOrNoValue(stack, item)).filter((item) => item !== noValue);
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && isFunction(...only)) return call(stack, ...only);
  return Object.fromEntries(
    entries
      .map(([key, item]) => [key, resolveOrNoValue(stack, item)] as const)
      .filter(([, item]) => item !== noValue),
  );
};

/**
 * `Condition` is a function only with the name of a condition: in policy statements its value is an object.
 */
const isFunction = (key: string, argument: unknown): boolean =>
  key === "Ref" || key.startsWith("Fn::") || (key === "Condition" && typeof argument === "string");

const call = (stack: Stack, name: string, argument: unknown): unknown => {
  const named = functions[name];
  if (named === undefined) throw new Error(`The template uses ${name}, which cannot be resolved locally`);
  return named(stack, argument);
};

const listOf = <List extends unknown[]>(stack: Stack, argument: unknown): List =>
  resolve(stack, argument) as List;

const functions: Record<string, (stack: Stack, argument: unknown) => unknown> = {
  Ref: (stack, name) => referenceTo(stack, String(name)),
  Condition: (stack, name) => holds(stack, String(name)),
  "Fn::And": (stack, argument) => listOf(stack, argument).every((value) => value === true),
  "Fn::Base64": (stack, argument) => Buffer.from(String(resolve(stack, argument))).toString("base64"),
  "Fn::Equals": (stack, argument) => {
    const [left, right] = listOf(stack, argument);
    return String(left) === String(right);
  },
  "Fn::FindInMap": (stack, argument) => {
    const [map, first, second] = listOf<[string, string, string]>(stack, argument);
    return stack.template.Mappings?.[map]?.[first]?.[second];
  },
  "Fn::GetAtt": (stack, argument) => {
    const path = typeof argument === "string" ? argument.split(".") : (argument as string[]);
    const [logicalId = "", ...attributes] = path;
    return attributeOf(stack, logicalId, attributes.join("."));
  },
  "Fn::If": (stack, argument) => {
    const [condition, whenTrue, whenFalse] = argument as [string, unknown, unknown];
    return resolveOrNoValue(stack, holds(stack, condition) ? whenTrue : whenFalse);
  },
  "Fn::Join": (stack, argument) => {
    const [delimiter, items] = listOf<[string, unknown[]]>(stack, argument);
    return items.join(delimiter).replaceAll(awsApiOrigin(stack), stack.apiOrigin);
  },
  "Fn::Not": (stack, argument) => listOf(stack, argument)[0] !== true,
  "Fn::Or": (stack, argument) => listOf(stack, argument).some((value) => value === true),
  "Fn::Select": (stack, argument) => {
    const [index, values] = listOf<[number | string, unknown[]]>(stack, argument);
    return values[Number(index)];
  },
  "Fn::Split": (stack, argument) => {
    const [delimiter, text] = listOf<[string, string]>(stack, argument);
    return text.split(delimiter);
  },
  "Fn::Sub": (stack, argument) => {
    const [text, variables] =
      typeof argument === "string" ? [argument, {}] : (argument as [string, Record<string, unknown>]);
    return substitute(stack, text, variables);
  },
  "Fn::ToJsonString": (stack, argument) => JSON.stringify(resolve(stack, argument)),
};

const substitute = (stack: Stack, text: string, variables: Record<string, unknown>): string =>
  text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    if (name.startsWith("!")) return `\${${name.slice(1)}}`;
    if (name in variables) return String(resolve(stack, variables[name]));
    const [logicalId = "", ...attributes] = name.split(".");
    return String(
      attributes.length > 0 ? attributeOf(stack, logicalId, attributes.join(".")) : referenceTo(stack, name),
    );
  });
