/** Examples of what goes in and comes out, made of the examples that the contracts' fields have and of the values below. */
import type { Json, Schemas } from "./schema.ts";

/**
 * Values of fields whose contract has no example, or whose example would contradict another one, by the end of their path: the tag
 * of the operation and the names of properties. A field whose value is undefined is left out.
 */
const values: Json = {
  acknowledgedByApiKey: null,
  acknowledgeReason: "Password changed",
  "addresses.email": "alan@demo.example",
  "addresses.ignored": false,
  "advice.title": "Change the password",
  after: "AAAAAZrCcgA",
  "alert-configs.config": { recipients: ["security@demo.example"] },
  "alert-configs.id": 1,
  "alert-configs.name": "Security team",
  "alert-configs.owner": null,
  "alert-configs.status": "delivered",
  answer: "code=4kq3n8&state=Zm9vYmFy",
  "answer.id": "3q2-7wEjRWeJq83vEjRWeA",
  "api-keys.label": "Ticket system",
  "apiKeys.label": "Ticket system",
  attribution: "security researchers",
  authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4",
  "billing.reason": null,
  "billing.status": "active",
  body: "ok",
  "breach.domain": "payrollpro.example",
  "breach.name": "PayrollPro",
  "breach.title": "PayrollPro",
  "breaches.domain": "payrollpro.example",
  "breaches.filter": { breachId: 1, severity: ["critical", "high"] },
  // Either ids or a filter.
  "breaches.ids": undefined,
  "breaches.name": "PayrollPro",
  "breaches.reason": "Password changed",
  "breaches.status": "completed",
  "breaches.title": "PayrollPro",
  browser: "Firefox on Windows",
  "channel.channel": "webhook",
  "channels.name": "Ticket system",
  clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
  columns: { used: ["Email", "Name", "Team"], ignored: ["Phone"], withoutAddress: [] },
  "configs.channel": "webhook",
  cursor: "AAAAAZrCcgA",
  dataClasses: ["Passwords", "Email addresses"],
  "deliveries.owner": null,
  "deliveries.status": "delivered",
  description: "In January 2026 PayrollPro lost the passwords of its customers.",
  disabledCount: 0,
  "domain.name": "demo.example",
  "domains.name": "demo.example",
  "domains.reason": null,
  durationMs: 84,
  email: "ada@demo.example",
  "emails.ids": [1, 2],
  // Either this or `set`.
  "emails.remove": undefined,
  error: "2 e-mails could not be scanned",
  errorMessage: null,
  estimatedDeltaCents: 0,
  failedAttempts: 0,
  failedCount: 0,
  failing: false,
  failingSince: null,
  failureReason: null,
  found: ["breach-monitor=9f86d081884c7d659a2feaa0c55ad015"],
  handled: undefined,
  isFabricated: false,
  isMalware: false,
  isRetired: false,
  isSensitive: false,
  isSpamList: false,
  isStealerLog: false,
  key: "bms_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2y",
  label: "Grace Hopper",
  "lastResponse.status": 200,
  "lastScan.status": "completed",
  location: "https://breach-monitor.example/api/app/unsubscribe",
  "members.name": "Grace Hopper",
  minSeverity: "low",
  nextAttemptAt: null,
  notices: [],
  "options.grouping": "address",
  "options.name": "Ticket system",
  "options.sensitive": "named",
  "options.tellOwners": false,
  "organization.name": "Demo",
  ownerName: "Ada Lovelace",
  "passkeys.id": "3q2-7wEjRWeJq83vEjRWeA",
  payload:
    '{"id":1,"type":"breach","timestamp":"2026-11-21T09:30:00.000Z","data":{"breaches":[{"breachId":1,"title":"PayrollPro","domain":"payrollpro.example","dataClasses":["Passwords"]}]}}',
  plan: "Pro 1",
  preview: "bms_0aB1cD2eF3gH",
  "provider.name": "Demo's identity provider",
  pwnCount: 1_200_000,
  rawId: "3q2-7wEjRWeJq83vEjRWeA",
  "record.name": "_breach-monitor.demo.example",
  "record.value": "breach-monitor=9f86d081884c7d659a2feaa0c55ad015",
  revokedAt: null,
  "scan.status": "completed",
  "scans.status": "completed",
  severity: "high",
  "sign-in.token": "3q2-7wEjRWeJq83vEjRWeA",
  signature: "MEUCIQDvX",
  skipped: 0,
  "skipped.reason": "the domain is not verified",
  skippedCount: 0,
  // Of stealer logs alone.
  stealerLogDomains: undefined,
  steps: ["Change the password at PayrollPro, and wherever it was used again."],
  "subAddresses.email": "ada+shop@demo.example",
  summary: "Added ada@demo.example",
  team: "Finance",
  "team.name": "Finance",
  "teams.name": "Finance",
  token: "7.3q2-7wEjRWeJq83vEjRWeA.EjRWeJq83vEjRWeJq83vEA",
  "topBreaches.title": "PayrollPro",
  trialEndsAt: null,
  unreached: [],
  url: "https://identity.example/authorize?client_id=breach-monitor",
  "user.name": "Grace Hopper",
  userHandle: "MTI",
  visibleSince: "2025-11-21T09:30:00.000Z",
  waitsFor: null,
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

/** An example of a schema. `path`: its tag, and the names of the properties that lead to it. Throws when a text has no example. */
export const exampleOf = (schema: Json, path: readonly string[], schemas: Schemas): unknown => {
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
  if (alternative !== undefined) return exampleOf(alternative, path, schemas);
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
      throw new Error(
        `The OpenAPI document has no example of ${path.join(".")}: add one to its contract, or here`,
      );
  }
};
