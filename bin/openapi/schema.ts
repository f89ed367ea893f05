/** How contracts' schemas become those of the document. */
import * as z from "zod/mini";
import { type CreateDocumentOptions, createSchema } from "zod-openapi";

export type Json = { [name: string]: unknown };

export const options: CreateDocumentOptions = {
  override: ({ zodSchema, jsonSchema }) => {
    // Clients must not reject replies that have more fields one day. A strict object refuses further fields
    // of a request.
    if (!isStrict(zodSchema)) delete jsonSchema.additionalProperties;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) jsonSchema.format = "int64";
    // Zod leaves out those of what it transforms. Contracts have them as clients write them.
    const { examples } = z.globalRegistry.get(zodSchema) ?? {};
    if (Array.isArray(examples)) jsonSchema.examples = examples;
  },
};

/** The JSON Schema of an optional object is that of the object. */
const isStrict = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodMiniOptional
    ? isStrict(schema.def.innerType)
    : schema instanceof z.ZodMiniObject && schema.def.catchall !== undefined;

/** Parameters have the types of the parsed values, such as integer: OpenAPI then writes `7` into the path or query. */
export const parameterSchema = (schema: z.core.$ZodType): Json =>
  createSchema(schema, { io: "output", opts: options }).schema as Json;
