/** Examples of what goes in and comes out, made of the examples that the contracts' fields have. */
import type { Json } from "./schema.ts";

type Schemas = Record<string, Json>;

/** Gives every body and parameter of a document an example, unless it has one. Throws if the contracts have none. */
export const addExamples = (document: Json): Json => {
  const { paths, webhooks } = document;
  const { schemas } = document.components as { schemas: Schemas };
  const visit = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, at) => visit(item, [...path, String(at)]));
    if (typeof value !== "object" || value === null) return value;
    const { schema, ...rest } = value as Json;
    const visited = Object.fromEntries(
      Object.entries(rest).map(([name, part]) => [name, visit(part, [...path, name])]),
    );
    if (schema === undefined) return visited;
    const isNamed = "example" in visited || "examples" in visited || visited.in === "header";
    return { ...visited, schema, ...(!isNamed && { example: exampleOf(schema as Json, path, schemas) }) };
  };
  return { ...document, paths: visit(paths, []), webhooks: visit(webhooks, []) };
};

const alternativesIn = ({ anyOf, oneOf }: Json): Json[] => (anyOf ?? oneOf ?? []) as Json[];

const isOfType = (type: string, schema: Json): boolean =>
  [schema, ...alternativesIn(schema)].some((each) => [each.type].flat().includes(type));

/**
 * `path`: the names that lead to the schema. `whole`: the schema whose alternative it is. A text without an
 * example is null, if it may be.
 */
const exampleOf = (schema: Json, path: readonly string[], schemas: Schemas, whole = schema): unknown => {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ("default" in schema) return schema.default;
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.replace("#/components/schemas/", "");
    return exampleOf(schemas[name] as Json, [...path, name], schemas);
  }
  const [alternative] = alternativesIn(schema);
  if (alternative !== undefined) return exampleOf(alternative, path, schemas, schema);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        propertiesOf(schema).map(([name, property]) => [name, exampleOf(property, [...path, name], schemas)]),
      );
    case "array":
      return [exampleOf(schema.items as Json, path, schemas)];
    case "integer":
      return Math.max(1, Number(schema.minimum ?? 1));
    case "boolean":
      return true;
    default:
      if (isOfType("null", whole)) return null;
      throw new Error(`${path.join(".")} has no example in its contract`);
  }
};

/** An example has no list that may be absent, unless its contract has an example of it. */
const propertiesOf = ({ properties = {}, required = [] }: Json): [name: string, schema: Json][] =>
  Object.entries(properties as Schemas).filter(
    ([name, schema]) =>
      (required as string[]).includes(name) || !isOfType("array", schema) || "examples" in schema,
  );
