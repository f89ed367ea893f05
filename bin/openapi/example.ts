/** Examples of what goes in and comes out, made of the examples that the contracts' fields have and of the values below. */
import type { Json, Schemas } from "./schema.ts";

/**
 * Values of fields whose contract has no example, or whose example would contradict another one, by the end of their path: the tag
 * of the operation and the names of properties. A field whose value is undefined is left out.
 */
const values: Json = {
  acknowledgedByApiKey: null,
  acknowledgeReason: "Password changed",
  "advice.title": "Change the password",
  after: "AAAAAZrCcgA",
  "alert-configs.config": { recipients: ["security@demo.example"] },
  "breach.domain": "payrollpro.example",
  "breach.name": "PayrollPro",
  "breach.title": "PayrollPro",
  "breaches.domain": "payrollpro.example",
  "breaches.filter": { breachId: 1, severity: ["critical", "high"] },
  // Either ids or a filter.
  "breaches.ids": undefined,
  "breaches.reason": "Password changed",
  "breaches.status": "completed",
  "breaches.title": "PayrollPro",
  columns: {
    used: ["Email", "Name", "Team", "Status"],
    ignored: ["Phone"],
    withoutAddress: [],
    departed: [{ email: "grace@demo.example", heading: "Status", value: "Suspended" }],
  },
  "configs.channel": "webhook",
  cursor: "AAAAAZrCcgA",
  dataClasses: ["Passwords", "Email addresses"],
  description: "In January 2026 PayrollPro lost the passwords of its customers.",
  "domain.name": "demo.example",
  "domains.name": "demo.example",
  email: "ada@demo.example",
  error: "2 e-mails could not be scanned",
  failing: false,
  failingSince: null,
  isFabricated: false,
  isMalware: false,
  isRetired: false,
  isSensitive: false,
  isSpamList: false,
  isStealerLog: false,
  label: "Grace Hopper",
  ownerName: "Ada Lovelace",
  pwnCount: 1_200_000,
  "scan.status": "completed",
  "scans.status": "completed",
  // Of stealer logs alone.
  stealerLogDomains: undefined,
  steps: ["Change the password at PayrollPro, and wherever it was used again."],
  summary: "Added ada@demo.example",
  team: "Finance",
  "team.name": "Finance",
};

/** The type of a value as JSON Schema calls it. */
const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" ? "integer" : typeof value;
};

const alternativesIn = ({ anyOf, oneOf }: Json): Json[] => (anyOf ?? oneOf ?? []) as Json[];

/** A schema without a type is a reference. */
const isA = (value: unknown, schema: Json): boolean =>
  [schema, ...alternativesIn(schema)].some(({ type, $ref }) =>
    $ref === undefined ? [type].flat().includes(typeOf(value)) : value !== null,
  );

/**
 * An example of a schema. `path`: its tag, and the names of the properties that lead to it. `whole`: the schema whose alternative it is. A
 * text without an example is null. Throws if it may not be.
 */
export const exampleOf = (
  schema: Json,
  path: readonly string[],
  schemas: Schemas,
  whole = schema,
): unknown => {
  const ends = path.map((_, index) => path.slice(index).join("."));
  const named = ends.find((end) => end in values && (values[end] === undefined || isA(values[end], schema)));
  if (named !== undefined) return values[named];
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ("default" in schema) return schema.default;
  if (typeof schema.$ref === "string")
    return exampleOf(schemas[schema.$ref.replace("#/components/schemas/", "")] as Json, path, schemas);
  const [alternative] = alternativesIn(schema);
  if (alternative !== undefined) return exampleOf(alternative, path, schemas, schema);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, property]) => [
          name,
          exampleOf(property, [...path, name], schemas),
        ]),
      );
    case "array":
      return [exampleOf(schema.items as Json, path, schemas)];
    case "integer":
      return Math.max(1, Number(schema.minimum ?? 1));
    case "boolean":
      return true;
    default:
      if (isA(null, whole)) return null;
      throw new Error(
        `The OpenAPI document has no example of ${path.join(".")}: add one to its contract, or here`,
      );
  }
};
