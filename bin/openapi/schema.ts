/** JSON Schemas of contracts, and the parts of the document that hold them. */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";

export type Json = { [name: string]: unknown };

/** The schemas that have an id in their metadata, by this id. */
export type Schemas = Record<string, Json>;

/**
 * The JSON Schema of a contract's schema. Adds schemas that have an id to `schemas`, and refers to them.
 * Throws when two different schemas have one id.
 */
export const jsonSchema = (schema: z.core.$ZodType, io: "input" | "output", schemas: Schemas): Json => {
  const text = JSON.stringify(
    // Wrapped in an object, because Zod never replaces the outermost schema by a reference.
    z.toJSONSchema(z.object({ schema }), { io, target: "draft-2020-12", override: adapt }),
  ).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { properties, $defs = {} } = JSON.parse(text) as { properties: { schema: Json }; $defs?: Schemas };
  for (const [id, { id: _, ...definition }] of Object.entries($defs)) {
    schemas[id] ??= definition;
    if (!isDeepStrictEqual(schemas[id], definition)) throw new Error(`Two schemas have the id ${id}`);
  }
  return properties.schema;
};

const adapt = ({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}) => {
  // Clients must not reject replies that have more fields one day. A strict object refuses further fields of a request.
  if (!isStrict(zodSchema)) delete jsonSchema.additionalProperties;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) jsonSchema.format = "int64";
  if (zodSchema instanceof z.ZodMiniDiscriminatedUnion) {
    jsonSchema.discriminator = discriminatorOf(zodSchema);
  }
};

/** The JSON Schema of an optional object is that of the object. */
const isStrict = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodMiniOptional
    ? isStrict(schema.def.innerType)
    : schema instanceof z.ZodMiniObject && schema.def.catchall !== undefined;

/** Which value of the discriminating field belongs to which schema. */
const discriminatorOf = ({ _zod: { def } }: z.ZodMiniDiscriminatedUnion): Json => ({
  propertyName: def.discriminator,
  mapping: Object.fromEntries(
    def.options.map((option) => {
      const id = z.globalRegistry.get(option)?.id;
      const literal = option instanceof z.ZodMiniObject ? option.shape[def.discriminator] : undefined;
      if (id === undefined || !(literal instanceof z.ZodMiniLiteral)) {
        throw new Error(`An alternative by ${def.discriminator} needs an id and one value of it`);
      }
      return [literal.def.values[0], `#/components/schemas/${id}`];
    }),
  ),
});
