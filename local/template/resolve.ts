/**
 * The functions of CloudFormation that this service's template uses. Any other is refused, not guessed.
 *
 * This module and those of names, ARNs and references import each other: a name may be a function's result,
 * and a function may ask for a name.
 */
import { attributeOf, referenceTo } from "./references.ts";
import { awsApiOrigin, type Stack } from "./stack.ts";

/** A template value with its references and functions resolved. */
export const resolve = (stack: Stack, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolve(stack, item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && (only[0] === "Ref" || only[0].startsWith("Fn::"))) {
    const [name, argument] = only;
    const named = functions[name];
    if (named === undefined) throw new Error(`The template uses ${name}, which cannot be resolved locally`);
    return named(stack, argument);
  }
  return Object.fromEntries(entries.map(([key, item]) => [key, resolve(stack, item)]));
};

const listOf = <List extends unknown[]>(stack: Stack, argument: unknown): List =>
  resolve(stack, argument) as List;

const functions: Record<string, (stack: Stack, argument: unknown) => unknown> = {
  Ref: (stack, name) => referenceTo(stack, String(name)),
  "Fn::GetAtt": (stack, argument) => {
    const [logicalId = "", ...attributes] = argument as string[];
    return attributeOf(stack, logicalId, attributes.join("."));
  },
  "Fn::Join": (stack, argument) => {
    const [delimiter, items] = listOf<[string, unknown[]]>(stack, argument);
    return items.join(delimiter).replaceAll(awsApiOrigin(stack), stack.apiOrigin);
  },
  "Fn::Select": (stack, argument) => {
    const [index, values] = listOf<[number | string, unknown[]]>(stack, argument);
    return values[Number(index)];
  },
  "Fn::Split": (stack, argument) => {
    const [delimiter, text] = listOf<[string, string]>(stack, argument);
    return text.split(delimiter);
  },
  "Fn::Sub": (stack, text) =>
    String(text).replace(/\$\{([^}]+)\}/g, (_, name: string) => String(referenceTo(stack, name))),
};
